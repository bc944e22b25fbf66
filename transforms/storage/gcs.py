"""A bucket of Google Cloud Storage as a store, by its own client.

A version is the object's generation. Reads name the generation they want, and the client checks the checksum
that the service gives; writes carry preconditions. What passes (429, 5xx, broken connections) is retried by
the client's own policy alone, with one deadline: every call here may be repeated, because it is idempotent or
has a precondition. A write with a precondition that was repeated can find its own object in the way: each
carries a mark of its own by which it knows it. Credentials come from the environment's usual places.
"""

from __future__ import annotations

import io
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from transforms.model.errors import (
    ConfigError,
    NotFoundError,
    PreconditionError,
    StorageError,
)
from transforms.model.objects import ObjectInfo
from transforms.storage.bounded import BoundedBuffer
from transforms.storage.bucket import MARK, PAGE, BucketStore, expired, said, without_markers
from transforms.storage.protocol import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from google.cloud import storage

_TIMEOUT = 60
_RENEW = "Renew them: `gcloud auth application-default login`, or the key that GOOGLE_APPLICATION_CREDENTIALS names"
_DEADLINE = 300
_PARALLEL = 8
"""Deletes at once; the client's pool keeps ten connections."""


class GcsStore(BucketStore):
    """Objects are those of a bucket whose names begin with a prefix."""

    scheme = "gs"

    def level(self, prefix: str = "") -> Level:
        with self._translated(prefix):
            listing = self._listing(prefix, delimiter="/")
            page = next(listing.pages)
            complete = not listing.next_page_token
        folders = sorted(folder[len(self._prefix) :] for folder in page.prefixes)
        return Level(tuple(folders), tuple(self._infos(page)), complete)

    def stat(self, name: str) -> ObjectInfo | None:
        with self._translated(name):
            blob = self._bucket().get_blob(self._prefix + name, timeout=_TIMEOUT, retry=self._retry())
        return None if blob is None else self._info(blob)

    def read(self, name: str, token: str | None = None, limit: int | None = None) -> bytes:
        generation = None if token is None else int(token)
        buffer = BoundedBuffer(limit, self.uri(name))
        try:
            with self._translated(name):
                blob = self._bucket().blob(self._prefix + name, generation=generation)
                # Objects stored compressed come as what they are of: their stored size says nothing.
                blob.download_to_file(buffer, timeout=_TIMEOUT, retry=self._retry())
        except NotFoundError as error:
            if token is None:
                raise
            raise PreconditionError(f"{self.uri(name)} changed after it was listed.") from error
        return buffer.getvalue()

    def write(self, name: str, data: bytes) -> None:
        self._upload(name, data, None)

    def create(self, name: str, data: bytes) -> str:
        return self._upload(name, data, 0)

    def replace(self, name: str, data: bytes, token: str) -> str:
        return self._upload(name, data, int(token))

    def copy(self, source: str, target: str) -> None:
        with self._translated(source):
            origin = self._bucket().blob(self._prefix + source)
            copy = self._bucket().blob(self._prefix + target)
            token, _, _ = copy.rewrite(origin, timeout=_TIMEOUT, retry=self._retry())
            while token is not None:
                token, _, _ = copy.rewrite(origin, token=token, timeout=_TIMEOUT, retry=self._retry())

    def delete(self, names: Iterable[str]) -> None:
        with ThreadPoolExecutor(_PARALLEL) as pool:
            for done in [pool.submit(self._delete, name) for name in names]:
                done.result()

    def _part(self, name: str, token: str, start: int, end: int) -> bytes:
        blob = self._bucket().blob(self._prefix + name, generation=int(token))
        data: bytes = blob.download_as_bytes(
            start=start, end=end - 1, raw_download=True, timeout=_TIMEOUT, retry=self._retry()
        )
        return data

    def _delete(self, name: str) -> None:
        try:
            with self._translated(name):
                self._bucket().blob(self._prefix + name).delete(timeout=_TIMEOUT, retry=self._retry())
        except NotFoundError:
            # Gone already.
            return

    def _upload(self, name: str, data: bytes, generation: int | None) -> str:
        self._refuse_too_long(name)
        if "\n" in name or "\r" in name:
            raise StorageError(
                f"{name!r} is no name that Google Cloud Storage can hold: it has a line break."
            )
        mark = uuid.uuid4().hex
        blob = self._bucket().blob(self._prefix + name)
        blob.metadata = {MARK: mark}
        try:
            with self._translated(name):
                blob.upload_from_file(
                    io.BytesIO(data),
                    size=len(data),
                    content_type="application/octet-stream",
                    if_generation_match=generation,
                    timeout=_TIMEOUT,
                    retry=self._retry(),
                )
                return str(blob.generation)
        except PreconditionError:
            mine = self._written_by(name, mark)
            if mine is None:
                raise
            return mine
        except NotFoundError as error:
            if self.exists_root():
                raise
            raise self._no_bucket() from error

    def _written_by(self, name: str, mark: str) -> str | None:
        """The version of an object that bears the mark: its writer was told that it failed, and had not."""
        with self._translated(name):
            blob = self._bucket().get_blob(self._prefix + name, timeout=_TIMEOUT, retry=self._retry())
        written = blob is not None and (blob.metadata or {}).get(MARK) == mark
        return str(blob.generation) if blob is not None and written else None

    def _list_one(self) -> None:
        next(self._listing("", maximum=1).pages, None)

    def _pages(self, prefix: str) -> Iterator[storage.client.page_iterator.Page]:
        pages: Iterator[storage.client.page_iterator.Page] = self._listing(prefix).pages
        return pages

    def _listing(
        self, prefix: str, delimiter: str | None = None, maximum: int | None = None
    ) -> storage.client.page_iterator.HTTPIterator:
        return self._client().list_blobs(
            self._bucket_name,
            prefix=self._prefix + prefix,
            delimiter=delimiter,
            max_results=maximum,
            page_size=PAGE,
            fields="items(name,size,generation,md5Hash,updated),prefixes,nextPageToken",
            timeout=_TIMEOUT,
            retry=self._retry(),
        )

    def _infos(self, page: Iterable[storage.Blob]) -> Sequence[ObjectInfo]:
        return without_markers(self._info(blob) for blob in page)

    def _info(self, blob: storage.Blob) -> ObjectInfo:
        # Objects that were composed of others have no MD5.
        checksum = f"md5:{blob.md5_hash}" if blob.md5_hash else ""
        modified = int(blob.updated.timestamp()) if blob.updated else None
        return ObjectInfo(
            blob.name[len(self._prefix) :], blob.size, str(blob.generation), checksum, modified
        )

    def _bucket(self) -> storage.Bucket:
        return self._client().bucket(self._bucket_name)

    def _open_client(self) -> storage.Client:
        from google.auth.exceptions import DefaultCredentialsError
        from google.cloud import storage

        try:
            # No call here needs a project. With STORAGE_EMULATOR_HOST none needs credentials.
            return storage.Client(project=None)
        except DefaultCredentialsError as error:
            raise ConfigError(
                f"{self.root}: no credentials for Google Cloud were found. Run "
                "`gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS."
            ) from error

    def _retry(self) -> object:
        from google.cloud.storage.retry import DEFAULT_RETRY

        return DEFAULT_RETRY.with_timeout(_DEADLINE)

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        """Turn the client's errors into ours, once."""
        from google.api_core import exceptions
        from google.auth.exceptions import GoogleAuthError
        from google.cloud.storage.exceptions import DataCorruption, InvalidResponse
        from requests.exceptions import RequestException

        where = self.uri(name)
        try:
            yield
        except exceptions.NotFound as error:
            raise NotFoundError(f"There is no {where}.") from error
        except exceptions.PreconditionFailed as error:
            raise PreconditionError(f"{where} was changed by another writer, or exists already.") from error
        except exceptions.Unauthorized as error:
            raise expired(where, "401", _RENEW) from error
        except exceptions.Forbidden as error:
            raise StorageError(
                f"{where}: access denied. Grant this identity storage.objectUser on it."
            ) from error
        except GoogleAuthError as error:
            # Its second part is the whole answer.
            raise expired(where, said(error.args[0] if error.args else error), _RENEW) from None
        except DataCorruption as error:
            raise StorageError(f"{where} came with other bytes than its checksum says.") from error
        except (exceptions.GoogleAPIError, RequestException, InvalidResponse) as error:
            # Addresses of uploads are rights to them.
            raise StorageError(f"{where}: {said(error)}.") from None
