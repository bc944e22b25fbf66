"""Stores to hold to one contract: a local folder, and buckets on servers that the tests start."""

import contextlib
import gc
import os

import pytest

from tests.servers.buckets import MissingServerError, environment, gcs_server, new_bucket, s3_server
from tests.servers.troubled_proxy import TroubledProxy
from transforms.storage.local import LocalStore


@contextlib.contextmanager
def _needed(server):
    """A server, or the reason to pass over a test; where `make test-storage` asks for servers, none is passed over."""
    with contextlib.ExitStack() as stack:
        try:
            url = stack.enter_context(server())
        except MissingServerError as error:
            if os.environ.get("PARQUETRY_SERVERS") == "required":
                pytest.fail(str(error))
            pytest.skip(str(error))
        yield url


@pytest.fixture(scope="session")
def gcs_endpoint():
    """The address of a fake-gcs-server that lives as long as the session."""
    with _needed(gcs_server) as url:
        yield url


@pytest.fixture
def gcs_root(gcs_endpoint, monkeypatch):
    """A new bucket, as a root."""
    return _new_root("gcs", gcs_endpoint, monkeypatch)


@pytest.fixture(scope="session")
def s3_endpoint():
    """The address of moto's server that lives as long as the session."""
    with _needed(s3_server) as url:
        yield url


@pytest.fixture
def s3_root(s3_endpoint, monkeypatch):
    """A new bucket, as a root."""
    return _new_root("s3", s3_endpoint, monkeypatch)


def _new_root(kind, endpoint, monkeypatch):
    for name, value in environment(kind, endpoint).items():
        monkeypatch.setenv(name, value)
    return f"{new_bucket(kind)}/corpus"


@pytest.fixture(params=["local", "gcs", "s3"])
def kind(request):
    return request.param


@pytest.fixture
def store(kind, request, tmp_path):
    """An empty store of each kind."""
    if kind == "local":
        (tmp_path / "root").mkdir()
        yield LocalStore(str(tmp_path / "root"))
        return
    bucket = _bucket_store(kind, request)
    yield bucket
    bucket.close()


def _bucket_store(kind, request):
    root = request.getfixturevalue(f"{kind}_root")
    if kind == "gcs":
        from transforms.storage.gcs import GcsStore

        return GcsStore(root)
    from transforms.storage.s3 import S3Store

    return S3Store(root)


ENDPOINTS = {"gcs": "STORAGE_EMULATOR_HOST", "s3": "AWS_ENDPOINT_URL_S3"}


@pytest.fixture(params=sorted(ENDPOINTS))
def troubled(request, monkeypatch):
    """A store behind a proxy that can make trouble, and the proxy."""
    bucket = _bucket_store(request.param, request)
    variable = ENDPOINTS[request.param]
    trouble = TroubledProxy(os.environ[variable])
    monkeypatch.setenv(variable, trouble.url)
    store = type(bucket)(bucket.root)
    # Clients and tenacity wait between attempts; how long is not what is tested.
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    yield store, trouble
    store.close()
    trouble.close()
    # Connections on which a client gave up are closed by nobody else.
    del store, bucket
    gc.collect()
