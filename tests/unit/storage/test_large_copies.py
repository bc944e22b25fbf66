"""A copy on S3 asks for no size first; what one request cannot copy is copied in parts."""

import pytest

from transforms.model.errors import NotFoundError
from transforms.storage.s3 import S3Store

exceptions = pytest.importorskip("botocore.exceptions")


class Service:
    def __init__(self, code=None):
        self.code = code
        self.calls = []

    def copy_object(self, **request):
        self.calls.append("copy_object")
        if self.code:
            raise exceptions.ClientError({"Error": {"Code": self.code, "Message": "no"}}, "CopyObject")

    def copy(self, source, **target):
        self.calls.append("copy in parts")


@pytest.mark.parametrize(
    ("code", "calls"),
    [(None, ["copy_object"]), ("InvalidRequest", ["copy_object", "copy in parts"])],
)
def test_what_one_request_cannot_copy_is_copied_in_parts(monkeypatch, code, calls):
    service = Service(code)
    monkeypatch.setattr(S3Store, "_open_client", lambda _: service)
    S3Store("s3://b").copy("a", "c")
    assert service.calls == calls


def test_another_refusal_is_told(monkeypatch):
    monkeypatch.setattr(S3Store, "_open_client", lambda _: Service("NoSuchKey"))
    with pytest.raises(NotFoundError, match="s3://b/a"):
        S3Store("s3://b").copy("a", "c")
