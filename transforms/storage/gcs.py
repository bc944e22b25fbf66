"""A bucket of Google Cloud Storage as a store, by its own client.

A version is the object's generation. Reads name the generation they want and check the MD5 or CRC32C that the
service gives (the client does); writes carry preconditions. What passes (429, 5xx, broken connections) is
retried by the client's own policy, which knows which calls may be repeated: every call here is one, because
each has a precondition or is idempotent. Credentials come from the environment's usual places.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from transforms.model.errors import (
    ConfigError,
    NotFoundError,
    PreconditionError,
    StorageError,
    TooLargeError,
)
from transforms.model.objects import ObjectInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from google.cloud import storage

PAGE = 1_000
_TIMEOUT = 60
_DEADLINE = 300


class GcsStore:
    """Objects are those of a bucket whose names begin with a prefix."""

    def __init__(self, root: str) -> None:
        self.root = root
        bucket, _, prefix = root.removeprefix("gs://").partition("/")
        if not bucket:
            raise ConfigError(f"{root} names no bucket; write gs://BUCKET/FOLDER.")
        self._bucket_name = bucket
        self._prefix = prefix.rstrip("/") + "/" if prefix.rstrip("/") else ""
        self._client: storage.Client | None = None

    def __getstate__(self) -> dict[str, str]:
        return {"root": self.root}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__init__(state["root"])  # type: ignore[misc]

    def uri(self, name: str) -> str:
        """``gs://bucket/prefix/name``, the name unescaped."""
        return f"gs://{self._bucket_name}/{self._prefix}{name}"

    def exists_root(self) -> bool:
        with self._translated(""):
            return bool(self._bucket().exists(timeout=_TIMEOUT, retry=self._retry()))

    def list(self, prefix: str = "") -> Iterator[list[ObjectInfo]]:
        with self._translated(prefix):
            fields = "items(name,size,generation),nextPageToken"
            pages = (
                self._client_()
                .list_blobs(
                    self._bucket_name,
                    prefix=self._prefix + prefix,
                    page_size=PAGE,
                    fields=fields,
                    timeout=_TIMEOUT,
                    retry=self._retry(),
                )
                .pages
            )
            for page in pages:
                infos = [self._info(blob) for blob in page if not blob.name.endswith("/")]
                if infos:
                    yield infos

    def stat(self, name: str) -> ObjectInfo | None:
        with self._translated(name):
            blob = self._bucket().get_blob(self._prefix + name, timeout=_TIMEOUT, retry=self._retry())
        return None if blob is None else self._info(blob)

    def read(self, name: str, token: str | None = None, limit: int | None = None) -> bytes:
        facts = self.stat(name)
        if facts is None:
            if token is not None:
                raise PreconditionError(f"{self.uri(name)} was deleted after it was listed.")
            raise NotFoundError(f"There is no {self.uri(name)}.")
        if token is not None and facts.token != token:
            raise PreconditionError(f"{self.uri(name)} changed after it was listed.")
        if limit is not None and facts.size > limit:
            raise TooLargeError(f"{self.uri(name)} has {facts.size:,} bytes, more than {limit:,}.")
        generation = int(facts.token)
        with self._translated(name):
            blob = self._bucket().blob(self._prefix + name, generation=generation)
            data: bytes = blob.download_as_bytes(timeout=_TIMEOUT, retry=self._retry())
        if len(data) != facts.size:
            raise StorageError(f"{self.uri(name)} came with {len(data):,} of {facts.size:,} bytes.")
        return data

    def open(self, name: str) -> BinaryIO:
        with self._translated(name):
            blob = self._bucket().get_blob(self._prefix + name, timeout=_TIMEOUT, retry=self._retry())
            if blob is None:
                raise NotFoundError(f"There is no {self.uri(name)}.")
            reader: BinaryIO = blob.open("rb", raw_download=True, retry=self._retry())
            return reader

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
        for name in names:
            with self._translated(name):
                # Unlike delete_blob this passes over what is gone already.
                self._bucket().delete_blobs(
                    [self._prefix + name], on_error=_pass, timeout=_TIMEOUT, retry=self._retry()
                )

    def _upload(self, name: str, data: bytes, generation: int | None) -> str:
        with self._translated(name):
            blob = self._bucket().blob(self._prefix + name)
            blob.upload_from_string(
                data,
                content_type="application/octet-stream",
                if_generation_match=generation,
                timeout=_TIMEOUT,
                retry=self._retry(),
            )
            return str(blob.generation)

    def _info(self, blob: storage.Blob) -> ObjectInfo:
        return ObjectInfo(blob.name[len(self._prefix) :], blob.size, str(blob.generation))

    def _bucket(self) -> storage.Bucket:
        return self._client_().bucket(self._bucket_name)

    def _client_(self) -> storage.Client:
        if self._client is None:
            import os

            from google.auth.exceptions import DefaultCredentialsError
            from google.cloud import storage

            try:
                # The emulator knows no credentials and no project.
                emulated = "STORAGE_EMULATOR_HOST" in os.environ
                self._client = storage.Client.create_anonymous_client() if emulated else storage.Client()
            except DefaultCredentialsError as error:
                raise ConfigError(
                    f"{self.root}: no credentials for Google Cloud were found. Run "
                    "`gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS."
                ) from error
        return self._client

    def _retry(self) -> object:
        from google.cloud.storage.retry import DEFAULT_RETRY

        return DEFAULT_RETRY.with_timeout(_DEADLINE)

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        """Turn the client's errors into ours, once."""
        from google.api_core import exceptions
        from google.auth.exceptions import GoogleAuthError
        from requests.exceptions import RequestException

        where = self.uri(name)
        try:
            yield
        except exceptions.NotFound as error:
            raise NotFoundError(f"There is no {where}.") from error
        except exceptions.PreconditionFailed as error:
            raise PreconditionError(f"{where} was changed by another writer, or exists already.") from error
        except (exceptions.Forbidden, exceptions.Unauthorized) as error:
            raise StorageError(
                f"{where}: access denied. Grant this identity storage.objectUser on it."
            ) from error
        except GoogleAuthError as error:
            raise StorageError(f"{where}: the credentials do not work: {error}.") from error
        except (exceptions.GoogleAPIError, RequestException) as error:
            raise StorageError(f"{where}: {error}.") from error


def _pass(blob: object) -> None:
    """An object to delete that does not exist any more is no fault."""
