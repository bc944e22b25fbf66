"""Credentials that end in the middle, and rights that are missing: one sentence with what helps, and no secret."""

import logging
import os
import traceback
import urllib.parse
from unittest import mock

import pytest

from pipeline.config import JobConfig
from pipeline.run import run_job
from tests.servers.troubled_proxy import Refusal
from tests.storage.conftest import ENDPOINTS, between, bucket_root
from tests.support import beamless
from transforms.model.errors import CredentialsError, StorageError
from transforms.storage.registry import open_store
from transforms.table import lease
from transforms.table.history import published
from transforms.table.pointer import read_pointer
from transforms.table.reader import Snapshot
from transforms.table.verify import check_files

# Vendors' clients leave connections open on which they have given up.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SECRETS = ("s3cr3t-key-of-amazon", "s3cr3t-session-of-amazon")


def amazon(code, status, message="no"):
    # The service repeats the session that it does not know.
    body = f"<Error><Code>{code}</Code><Message>{message}</Message><Token-0>{SECRETS[1]}</Token-0></Error>"
    return Refusal(status, body.encode(), (("Content-Type", "application/xml"),))


def microsoft(code, status):
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>no</Message></Error>"
    return Refusal(status, body.encode(), (("x-ms-error-code", code), ("Content-Type", "application/xml")))


def google(code):
    body = b'{"error": {"code": %d, "message": "Invalid Credentials"}}' % code
    return Refusal(code, body, (("Content-Type", "application/json"),))


EXPIRED = {
    "azure": microsoft("AuthenticationFailed", 403),
    "gcs": google(401),
    "s3": amazon("ExpiredToken", 400),
}
DENIED = {
    "azure": (
        microsoft("AuthorizationPermissionMismatch", 403),
        "Grant this identity Storage Blob Data Contr",
    ),
    "gcs": (google(403), "Grant this identity storage.objectUser on it"),
    "s3": (amazon("AccessDenied", 403), "Grant list, get, put and delete on it"),
}
RENEW = {"azure": "az login", "gcs": "gcloud auth application-default login", "s3": "aws sso login"}


@pytest.fixture(params=sorted(ENDPOINTS))
def kind(request):
    return request.param


@pytest.fixture
def place(kind, request, monkeypatch):
    """The root of a new bucket's folder behind a proxy, reached with secrets that are told from all else."""
    root = bucket_root(kind, request)
    trouble = between(kind, request, monkeypatch)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRETS[0])
    monkeypatch.setenv("AWS_SESSION_TOKEN", SECRETS[1])
    if kind == "azure":
        monkeypatch.setenv(
            "AZURE_STORAGE_CONNECTION_STRING", signed(os.environ["AZURE_STORAGE_CONNECTION_STRING"])
        )
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    open_store.cache_clear()
    yield root, trouble
    for one in (root, f"{root}-table"):
        open_store(one).close()
    open_store.cache_clear()
    trouble.close()


def signed(connection):
    """The right to everything, as a signature in every address."""
    import datetime

    from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas

    facts = dict(part.split("=", 1) for part in connection.strip(";").split(";"))
    signature = generate_account_sas(
        facts["AccountName"],
        facts["AccountKey"],
        ResourceTypes(service=True, container=True, object=True),
        AccountSasPermissions(read=True, write=True, delete=True, list=True, create=True, add=True),
        datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1),
    )
    return f"BlobEndpoint={facts['BlobEndpoint']};SharedAccessSignature={signature}"


def secrets():
    """All that may be told to nobody, as it stands in the environment and in addresses."""
    signature = (
        os.environ.get("AZURE_STORAGE_CONNECTION_STRING", "").partition("&sig=")[2].partition("&")[0]
    )
    return [secret for secret in (*SECRETS, signature, urllib.parse.unquote(signature)) if secret]


def config_of(root, table):
    return JobConfig.model_validate(
        {
            "table": table,
            "embedder": {"kind": "hash", "dimension": 4},
            "sources": [{"name": "docs", "root": root}],
            "run": {"workers": 1},
        }
    )


def everything_in(table):
    """All objects of a table as one text."""
    store = open_store(table)
    names = [info.name for page in store.list() for info in page]
    return "".join([*names, *(store.read(name).decode("latin-1") for name in names)])


def rows(table):
    store = open_store(table)
    snapshot = Snapshot.newest(store)
    check_files(store, snapshot.manifest)
    return [row for batch in snapshot.chunks() for row in batch.to_pylist()]


@pytest.mark.parametrize("answers", [0, 12, 24])
def test_credentials_that_end_in_the_middle_end_the_run_and_nothing_else(
    place, kind, answers, monkeypatch, caplog, capsys
):
    root, trouble = place
    table = f"{root}-table"
    monkeypatch.setattr("pipeline.run._run", beamless.work)
    corpus = open_store(root)
    for n in range(5):
        corpus.write(f"{n}.md", f"# Page {n}\n\nThe vent valve number {n} stays open.\n".encode())
    config = config_of(root, table)
    assert run_job(config).snapshot == 1
    before = rows(table)
    for n in range(5):
        corpus.write(f"{n}.md", f"# Page {n}\n\nThe vent valve number {n} stays shut.\n".encode())
    trouble.faults.extend([*[""] * answers, *[EXPIRED[kind]] * 1_000])
    caplog.set_level(logging.INFO)
    with (
        mock.patch.object(lease, "_started", return_value="first"),
        pytest.raises(StorageError, match=RENEW[kind]) as caught,
    ):
        run_job(config)
    assert "\n" not in str(caught.value)
    assert "run again" in str(caught.value)
    trouble.faults.clear()
    assert rows(table) == before
    assert [manifest.snapshot for manifest in published(open_store(table))] == [1]
    assert run_job(config).snapshot == 2
    assert {row["text"].split()[-1] for row in rows(table)} == {"shut."}
    told = "".join([*traceback.format_exception(caught.value), caplog.text, *capsys.readouterr()])
    for text in (told, everything_in(table)):
        assert not [secret for secret in secrets() if secret in text]


def test_objects_that_cannot_be_read_any_more_are_not_rejected(place, kind, tmp_path, monkeypatch):
    root, trouble = place
    monkeypatch.setattr("pipeline.run._run", beamless.work)
    open_store(root).write("1.md", b"# One\n\nThe vent valve stays open.\n")
    # One answer for whether the bucket is there, and one for its listing.
    trouble.faults.extend(["", "", *[EXPIRED[kind]] * 1_000])
    with pytest.raises(CredentialsError, match=RENEW[kind]):
        run_job(config_of(root, str(tmp_path / "table")))
    assert read_pointer(open_store(str(tmp_path / "table"))) is None


@pytest.mark.parametrize("call", ["list", "read", "stat", "write", "create", "delete", "copy", "open"])
def test_every_call_says_what_to_renew(place, kind, call):
    root, trouble = place
    store = open_store(root)
    store.write("a", b"1")
    trouble.faults.extend([EXPIRED[kind]] * 50)
    with pytest.raises(CredentialsError, match=RENEW[kind]) as caught:
        called(store, call)
    told = "".join(traceback.format_exception(caught.value))
    assert not [secret for secret in secrets() if secret in told]


@pytest.mark.parametrize("call", ["list", "read", "write", "delete"])
def test_a_right_that_is_missing_is_named(place, kind, call):
    root, trouble = place
    refusal, sentence = DENIED[kind]
    store = open_store(root)
    trouble.faults.extend([refusal] * 50)
    with pytest.raises(StorageError, match=sentence) as caught:
        called(store, call)
    assert not isinstance(caught.value, CredentialsError)


def called(store, call):
    calls = {
        "list": lambda: list(store.list()),
        "read": lambda: store.read("a"),
        "stat": lambda: store.stat("a"),
        "write": lambda: store.write("b", b"1"),
        "create": lambda: store.create("b", b"1"),
        "delete": lambda: store.delete(["a", "b"]),
        "copy": lambda: store.copy("a", "b"),
        "open": lambda: store.open("a").read(),
    }
    return calls[call]()


@pytest.mark.parametrize("kind", ["s3"])
def test_a_key_that_may_not_be_used_is_told_apart(place, kind):
    root, trouble = place
    refusal = amazon(
        "AccessDenied", 403, "User: arn:x is not authorized to perform: kms:Decrypt on resource: y"
    )
    trouble.faults.extend([refusal] * 20)
    with pytest.raises(StorageError, match="Grant kms:Decrypt and kms:GenerateDataKey"):
        open_store(root).read("a")
