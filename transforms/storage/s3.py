"""A bucket of S3, or of what speaks its language, as a store, by boto3.

A version is the object's ETag. Reads ask for the version they want, and the client checks length and checksum;
writes carry ``If-None-Match: *`` or ``If-Match``. What passes (throttling, 5xx, broken connections) is retried
by the client's standard mode; a body that breaks off is retried here, because the client leaves bodies to its
caller. A write with a precondition that was repeated can find its own object in the way: each carries a mark
of its own by which it knows it. Credentials, region and endpoint (``AWS_ENDPOINT_URL_S3``) come from the
environment's usual places.
"""

from __future__ import annotations

import uuid
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from transforms.model.errors import ConfigError, NotFoundError, PreconditionError, StorageError
from transforms.model.objects import ObjectInfo
from transforms.storage.bounded import BoundedBuffer
from transforms.storage.bucket import MARK, PAGE, BucketStore, expired, said, without_markers
from transforms.storage.protocol import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_ATTEMPTS = 8
_BODY_ATTEMPTS = 4
_CONNECTIONS = 16
_TIMEOUT = 60
_PIECE = 2**20
_TOO_LARGE = {"InvalidRequest", "EntityTooLarge"}
"""What the service says of a source with more bytes than one copy moves."""
_MISSING = {"404", "NoSuchKey", "NotFound", "NoSuchBucket"}
_TAKEN = {"412", "PreconditionFailed", "ConditionalRequestConflict"}
_DENIED = {"403", "AccessDenied", "AllAccessDisabled", "AccountProblem"}
_EXPIRED = {
    "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "InvalidToken", "RequestExpired",
    "InvalidAccessKeyId", "SignatureDoesNotMatch", "RequestTimeTooSkewed", "AuthFailure", "401",
    # The answer to HEAD has no words: this is how an old session is told there.
    "400",
}  # fmt: skip
_RENEW = "Renew them: `aws sso login`, or the keys and the session in the environment"


class S3Store(BucketStore):
    """Objects are those of a bucket whose names begin with a prefix."""

    scheme = "s3"

    def level(self, prefix: str = "") -> Level:
        with self._translated(prefix):
            page = next(self._pages(prefix, Delimiter="/"))
        folders = sorted(self._name(folder["Prefix"]) for folder in page.get("CommonPrefixes", ()))
        return Level(tuple(folders), tuple(self._infos(page)), not page.get("IsTruncated"))

    def stat(self, name: str) -> ObjectInfo | None:
        head = self._head(name)
        return None if head is None else _info(name, head["ContentLength"], head)

    def read(self, name: str, token: str | None = None, limit: int | None = None) -> bytes:
        wanted = {"IfMatch": token} if token else {}
        try:
            with self._translated(name):
                return self._body(name, limit, wanted)
        except NotFoundError as error:
            if token is None:
                raise
            raise PreconditionError(f"{self.uri(name)} changed after it was listed.") from error

    def write(self, name: str, data: bytes) -> None:
        self._put(name, data, {})

    def create(self, name: str, data: bytes) -> str:
        return self._put(name, data, {"IfNoneMatch": "*"})

    def replace(self, name: str, data: bytes, token: str) -> str:
        return self._put(name, data, {"IfMatch": token})

    def copy(self, source: str, target: str) -> None:
        with self._translated(source):
            from botocore.exceptions import ClientError

            try:
                self._client().copy_object(**self._key(target), CopySource=self._key(source))
            except ClientError as error:
                # Over 5 GiB. Asking for the size of each would cost a request more for all others.
                if error.response["Error"]["Code"] not in _TOO_LARGE:
                    raise
                self._client().copy(self._key(source), **self._key(target))

    def delete(self, names: Iterable[str]) -> None:
        together: list[str] = []
        for name in names:
            if name.isprintable():
                together.append(name)
            else:
                # Many are deleted by an XML document, which cannot hold every character.
                with self._translated(name):
                    self._client().delete_object(**self._key(name))
        for first in range(0, len(together), PAGE):
            self._delete_together(together[first : first + PAGE])

    def _part(self, name: str, token: str, start: int, end: int) -> bytes:
        return self._body(name, None, {"IfMatch": token, "Range": f"bytes={start}-{end - 1}"})

    def _delete_together(self, names: Sequence[str]) -> None:
        keys = [{"Key": self._prefix + name} for name in names]
        with self._translated(""):
            answer = self._client().delete_objects(
                Bucket=self._bucket_name, Delete={"Objects": keys, "Quiet": True}
            )
        for fault in answer.get("Errors", ()):
            raise StorageError(f"s3://{self._bucket_name}/{fault['Key']} was not deleted: {fault['Code']}.")

    def _body(self, name: str, limit: int | None, wanted: Mapping[str, str]) -> bytes:
        """The bytes of an object or of a range of it; a body that breaks off is asked for again."""
        from botocore.exceptions import HTTPClientError, IncompleteReadError, ResponseStreamingError

        broken = (HTTPClientError, IncompleteReadError, ResponseStreamingError)
        for attempt in Retrying(
            retry=retry_if_exception_type(broken),
            stop=stop_after_attempt(_BODY_ATTEMPTS),
            wait=wait_random_exponential(max=10),
            reraise=True,
        ):
            with attempt:
                buffer = BoundedBuffer(limit, self.uri(name))
                answer = self._client().get_object(**self._key(name), **wanted)
                with closing(answer["Body"]) as body:
                    for piece in body.iter_chunks(_PIECE):
                        buffer.write(piece)
        return buffer.getvalue()

    def _put(self, name: str, data: bytes, precondition: Mapping[str, str]) -> str:
        self._refuse_too_long(name)
        mark = uuid.uuid4().hex
        try:
            with self._translated(name):
                answer = self._client().put_object(
                    **self._key(name), Body=data, Metadata={MARK: mark}, **precondition
                )
                return str(answer["ETag"])
        except PreconditionError:
            # Its writer was told that it failed, and had not.
            head = self._head(name)
            if head is None or head["Metadata"].get(MARK) != mark:
                raise
            return str(head["ETag"])
        except NotFoundError as error:
            if self.exists_root():
                if "IfMatch" in precondition:
                    raise PreconditionError(f"{self.uri(name)} is gone.") from error
                raise
            raise self._no_bucket() from error

    def _head(self, name: str) -> Any:
        try:
            with self._translated(name):
                return self._client().head_object(**self._key(name))
        except NotFoundError:
            return None

    def _list_one(self) -> None:
        self._client().list_objects_v2(Bucket=self._bucket_name, Prefix=self._prefix, MaxKeys=1)

    def _pages(self, prefix: str, **more: str) -> Iterator[dict[str, Any]]:
        pages: Iterator[dict[str, Any]] = iter(
            self._client()
            .get_paginator("list_objects_v2")
            .paginate(Bucket=self._bucket_name, Prefix=self._prefix + prefix, **more)
        )
        return pages

    def _infos(self, page: Mapping[str, Any]) -> Sequence[ObjectInfo]:
        contents = page.get("Contents", ())
        return without_markers(_info(self._name(o["Key"]), o["Size"], o) for o in contents)

    def _name(self, key: str) -> str:
        return key[len(self._prefix) :]

    def _key(self, name: str) -> dict[str, str]:
        return {"Bucket": self._bucket_name, "Key": self._prefix + name}

    def _open_client(self) -> Any:
        try:
            import boto3
            from botocore.config import Config
        except ImportError as error:
            raise ConfigError(f"{self.root}: install parquetry[s3] to use s3://.") from error
        retries = {"mode": "standard", "total_max_attempts": _ATTEMPTS}
        config = Config(
            retries=retries,
            max_pool_connections=_CONNECTIONS,
            connect_timeout=_TIMEOUT,
            read_timeout=_TIMEOUT,
        )
        return boto3.session.Session().client("s3", config=config)

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        """Turn the client's errors into ours, once."""
        self._client()
        from botocore import exceptions

        where = self.uri(name)
        try:
            yield
        except exceptions.ClientError as error:
            raise _ours(where, error) from error
        except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError) as error:
            raise ConfigError(
                f"{self.root}: no credentials for S3 were found. Run `aws configure`, or set "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
            ) from error
        except (
            exceptions.CredentialRetrievalError,
            exceptions.SSOError,
            exceptions.TokenRetrievalError,
        ) as error:
            raise expired(where, said(error), _RENEW) from error
        except exceptions.BotoCoreError as error:
            raise StorageError(f"{where}: {said(error)}.") from error


def _info(name: str, size: int, facts: Mapping[str, Any]) -> ObjectInfo:
    """What an answer of the service says of an object: an ETag follows from the bytes and how they were sent."""
    tag, modified = facts["ETag"], facts.get("LastModified")
    return ObjectInfo(name, size, tag, f"etag:{tag}", int(modified.timestamp()) if modified else None)


def _ours(where: str, error: Any) -> StorageError:
    told = error.response.get("Error", {})
    code = str(told.get("Code", ""))
    if code in _MISSING:
        return NotFoundError(f"There is no {where}.")
    if code in _TAKEN:
        return PreconditionError(f"{where} was changed by another writer, or exists already.")
    if code in _EXPIRED:
        return expired(where, code, _RENEW)
    if code in _DENIED and "kms:" in str(told.get("Message", "")):
        return StorageError(
            f"{where}: access denied to its key ({code}). Grant kms:Decrypt and kms:GenerateDataKey on it."
        )
    if code in _DENIED:
        return StorageError(f"{where}: access denied ({code}). Grant list, get, put and delete on it.")
    return StorageError(f"{where}: {said(error)}.")
