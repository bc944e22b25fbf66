"""A container of Azure Blob Storage as a store, by azure-storage-blob.

A version is the blob's ETag, which every write changes. Reads ask for the version they want, and what came is
compared with the MD5 that the service keeps; writes carry ``If-None-Match: *`` or ``If-Match``. What passes
(throttling, 5xx, broken connections and bodies) is retried by the client's own policy. A write with a
precondition that was repeated can find its own blob in the way: each carries a mark of its own by which it
knows it. Which account, and by which right, is told by :mod:`transforms.storage.azure_account`.
"""

from __future__ import annotations

import base64
import hashlib
import time
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from transforms.model.errors import (
    ConfigError,
    NotFoundError,
    ParquetryError,
    PreconditionError,
    StorageError,
)
from transforms.model.objects import ObjectInfo
from transforms.storage.azure_account import open_service
from transforms.storage.bounded import BoundedBuffer
from transforms.storage.bucket import PAGE, BucketStore, expired, said, without_markers
from transforms.storage.protocol import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_MARK = "parquetry_write"
"""As ``MARK``: names of metadata are identifiers here."""
_FOLDER = "hdi_isfolder"
"""Metadata of a blob that stands for a folder, in accounts with hierarchical names."""
_SEGMENTS = 254
_TOGETHER = 256
"""Blobs of one batch of deletions at most."""
_COPY_SECONDS = 600
_TAKEN = {"BlobAlreadyExists", "ConditionNotMet", "TargetConditionNotMet", "SourceConditionNotMet"}
_EXPIRED = {"AuthenticationFailed", "InvalidAuthenticationInfo", "ExpiredAuthenticationToken"}


class AzureStore(BucketStore):
    """Objects are the blobs of a container whose names begin with a prefix.

    A root is ``az://CONTAINER/FOLDER``, in the account of the environment, or
    ``abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER``, which names the account itself.
    """

    longest = "1,024 characters"
    # Accounts with hierarchical names sort by parts of names, and do not say so.
    lists_apart = False

    def __init__(self, root: str) -> None:
        self.scheme = root.partition("://")[0]
        super().__init__(root)

    def level(self, prefix: str = "") -> Level:
        with self._translated(prefix):
            walk = self._client().walk_blobs(
                name_starts_with=self._prefix + prefix,
                include=["metadata"],
                delimiter="/",
                results_per_page=PAGE,
            )
            pages = walk.by_page()
            items = [*next(pages, ())]
            complete = not pages.continuation_token
        folders = {item.name[len(self._prefix) :] for item in items if "etag" not in item}
        objects = self._infos(item for item in items if "etag" in item)
        return Level(tuple(sorted(folders)), tuple(objects), complete)

    def stat(self, name: str) -> ObjectInfo | None:
        facts = self._facts(name)
        return None if facts is None else self._info(facts)

    def read(self, name: str, token: str | None = None, limit: int | None = None) -> bytes:
        buffer = BoundedBuffer(limit, self.uri(name))
        try:
            with self._translated(name):
                answer = self._blob(name).download_blob(**_matching(token))
                answer.readinto(buffer)
        except NotFoundError as error:
            if token is None:
                raise
            raise PreconditionError(f"{self.uri(name)} changed after it was listed.") from error
        data = buffer.getvalue()
        stored = answer.properties.content_settings
        # Blobs stored compressed come as what they are of: their checksum is of what is stored.
        told = None if stored.content_encoding else stored.content_md5
        if told and bytes(told) != hashlib.md5(data, usedforsecurity=False).digest():
            raise StorageError(f"{self.uri(name)} came with other bytes than its checksum says.")
        return data

    def write(self, name: str, data: bytes) -> None:
        self._upload(name, data, {"overwrite": True})

    def create(self, name: str, data: bytes) -> str:
        return self._upload(name, data, {"overwrite": False})

    def replace(self, name: str, data: bytes, token: str) -> str:
        return self._upload(name, data, {"overwrite": True} | _matching(token))

    def copy(self, source: str, target: str) -> None:
        self._refuse_unfit(target)
        copy = self._blob(target)
        with self._translated(source):
            # Within an account this is done at once, whatever the size.
            status = copy.start_copy_from_url(self._blob(source).url)["copy_status"]
            end = time.monotonic() + _COPY_SECONDS
            while status == "pending" and time.monotonic() < end:
                time.sleep(0.2)
                status = copy.get_blob_properties().copy.status
        if status != "success":
            raise StorageError(f"{self.uri(source)} was not copied to {self.uri(target)}: {status}.")

    def delete(self, names: Iterable[str]) -> None:
        together = [*names]
        for first in range(0, len(together), _TOGETHER):
            for name in self._left_by_batch(together[first : first + _TOGETHER]):
                self._delete(name)

    def _part(self, name: str, token: str, start: int, end: int) -> bytes:
        return bytes(self._blob(name).download_blob(start, end - start, **_matching(token)).readall())

    def _left_by_batch(self, names: Sequence[str]) -> Sequence[str]:
        """Delete blobs by one request; those of which it did not say that they are gone."""
        if len(names) == 1:
            return names
        for name in names:
            self._refuse_unfit(name)
        with self._translated(""):
            answers = self._client().delete_blobs(
                *(self._prefix + name for name in names), raise_on_any_failure=False
            )
            codes = [answer.status_code for answer in answers]
        return [name for name, code in zip(names, codes, strict=True) if code not in {202, 404}]

    def _delete(self, name: str) -> None:
        try:
            with self._translated(name):
                self._blob(name).delete_blob()
        except NotFoundError:
            # Gone already.
            return

    def _upload(self, name: str, data: bytes, how: Mapping[str, Any]) -> str:
        self._refuse_unfit(name)
        mark = uuid.uuid4().hex
        try:
            with self._translated(name):
                answer = self._blob(name).upload_blob(data, metadata={_MARK: mark}, **how)
                return str(answer["etag"])
        except PreconditionError:
            # Its writer was told that it failed, and had not.
            facts = self._facts(name)
            if facts is None or facts.metadata.get(_MARK) != mark:
                raise
            return str(facts.etag)
        except NotFoundError as error:
            if self.exists_root():
                raise
            raise self._no_bucket() from error

    def _facts(self, name: str) -> Any:
        try:
            with self._translated(name):
                return self._blob(name).get_blob_properties()
        except NotFoundError:
            return None

    def _list_one(self) -> None:
        names = self._client().list_blob_names(name_starts_with=self._prefix, results_per_page=1)
        next(names.by_page(), None)

    def _pages(self, prefix: str) -> Iterator[Iterable[Any]]:
        pages: Iterator[Iterable[Any]] = (
            self._client()
            .list_blobs(name_starts_with=self._prefix + prefix, include=["metadata"], results_per_page=PAGE)
            .by_page()
        )
        return pages

    def _infos(self, page: Iterable[Any]) -> Sequence[ObjectInfo]:
        blobs = (blob for blob in page if (blob.metadata or {}).get(_FOLDER) != "true")
        return without_markers(self._info(blob) for blob in blobs)

    def _info(self, blob: Any) -> ObjectInfo:
        # A listing gives the ETag bare, every other answer in quotes.
        tag = blob.etag.strip('"')
        # Blobs that were sent in blocks have no MD5 but that which their writer gave.
        told = blob.content_settings.content_md5
        checksum = f"md5:{base64.b64encode(told).decode()}" if told else ""
        return ObjectInfo(
            blob.name[len(self._prefix) :],
            blob.size,
            f'"{tag}"',
            checksum,
            int(blob.last_modified.timestamp()),
        )

    def _blob(self, name: str) -> Any:
        self._refuse_unfit(name)
        return self._client().get_blob_client(self._prefix + name)

    def _refuse_unfit(self, name: str) -> None:
        """Refuse names that the service would quietly take for others."""
        whole = self._prefix + name
        if len(whole) > 1_024:
            raise self._too_long(name)
        segments = whole.split("/")
        unfit = (
            "\\" in whole
            or not whole
            or len(segments) > _SEGMENTS
            or any(segment.endswith(".") for segment in segments)
            or any(character < " " or character in "\x7f\ufffe\uffff" for character in whole)
        )
        if unfit:
            raise StorageError(
                f"{name!r} is no name that Azure Blob Storage can hold: no part of one may end in a dot, and "
                f"none has a backslash, a control character or more than {_SEGMENTS} parts."
            )

    def _open_client(self) -> Any:
        container, _, host = self._bucket_name.partition("@")
        service = open_service(self.root, host.partition(".")[0])
        return service.get_container_client(container)

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        """Turn the client's errors into ours, once."""
        self._client()
        from azure.core import exceptions

        where = self.uri(name)
        try:
            yield
        except exceptions.ResourceNotFoundError as error:
            raise NotFoundError(f"There is no {where}.") from error
        except exceptions.ClientAuthenticationError as error:
            # What an identity was refused with can hold its requests.
            raise _refused(where, error) from None
        except exceptions.HttpResponseError as error:
            raise _ours(where, error) from None
        except exceptions.AzureError as error:
            # The address of a request can hold a signature, and the client's words repeat it.
            raise StorageError(f"{where}: {said(error)}.") from None


def _matching(token: str | None) -> dict[str, Any]:
    """The arguments that ask for one version."""
    if token is None:
        return {}
    from azure.core import MatchConditions

    return {"etag": token, "match_condition": MatchConditions.IfNotModified}


def _refused(where: str, error: Any) -> ParquetryError:
    from azure.identity import CredentialUnavailableError

    code = _code(error)
    if isinstance(error, CredentialUnavailableError):
        return ConfigError(
            f"{where}: no credentials for Azure were found. Run `az login`, or set AZURE_STORAGE_CONNECTION_STRING."
        )
    if code and code not in _EXPIRED:
        return StorageError(
            f"{where}: access denied ({code}). Grant this identity Storage Blob Data Contributor on it."
        )
    remedy = "Renew them: `az login`, or the key or signature in the environment"
    return expired(where, code or said(error), remedy)


def _ours(where: str, error: Any) -> ParquetryError:
    status, code = error.status_code, _code(error)
    if code in _TAKEN or (status == 412 and not code):
        return PreconditionError(f"{where} was changed by another writer, or exists already.")
    if status in {401, 403}:
        return _refused(where, error)
    return StorageError(f"{where}: {said(error)} ({code or status}).")


def _code(error: Any) -> str:
    """The service's own name of a fault."""
    code = getattr(error, "error_code", None)
    if code is None and getattr(error, "response", None) is not None:
        code = error.response.headers.get("x-ms-error-code")
    return str(getattr(code, "value", code) or "")
