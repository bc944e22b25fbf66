"""Stores to hold to one contract: a local folder, and buckets on servers that the tests start."""

import contextlib
import gc
import os

import pytest

from tests.servers.buckets import SERVERS, MissingServerError, environment, new_bucket
from tests.servers.troubled_proxy import TroubledProxy
from transforms.storage.local import LocalStore
from transforms.storage.registry import open_store

ENDPOINTS = {
    "azure": "AZURE_STORAGE_CONNECTION_STRING",
    "gcs": "STORAGE_EMULATOR_HOST",
    "s3": "AWS_ENDPOINT_URL_S3",
}
"""The variable by which a client finds the server of each kind of bucket."""


@contextlib.contextmanager
def _needed(kind):
    """A server, or the reason to pass over a test; `make test-storage` names those that may not be missing."""
    with contextlib.ExitStack() as stack:
        try:
            url = stack.enter_context(SERVERS[kind]())
        except MissingServerError as error:
            if kind in os.environ.get("PARQUETRY_SERVERS", "").split():
                pytest.fail(str(error))
            pytest.skip(str(error))
        yield url


@pytest.fixture(scope="session")
def azure_endpoint():
    """The address of an Azurite that lives as long as the session."""
    with _needed("azure") as url:
        yield url


@pytest.fixture(scope="session")
def gcs_endpoint():
    """The address of a fake-gcs-server that lives as long as the session."""
    with _needed("gcs") as url:
        yield url


@pytest.fixture(scope="session")
def s3_endpoint():
    """The address of moto's server that lives as long as the session."""
    with _needed("s3") as url:
        yield url


def bucket_root(kind, request):
    """The root of a new bucket's folder, on the server that the environment names from now on."""
    endpoint = request.getfixturevalue(f"{kind}_endpoint")
    monkeypatch = request.getfixturevalue("monkeypatch")
    for name, value in environment(kind, endpoint).items():
        monkeypatch.setenv(name, value)
    return f"{new_bucket(kind)}/corpus"


@pytest.fixture(params=["local", *sorted(ENDPOINTS)])
def kind(request):
    return request.param


@pytest.fixture
def store(kind, request, tmp_path):
    """An empty store of each kind."""
    if kind == "local":
        (tmp_path / "root").mkdir()
        yield LocalStore(str(tmp_path / "root"))
        return
    bucket = open_store.__wrapped__(bucket_root(kind, request))
    yield bucket
    bucket.close()


def between(kind, request, monkeypatch):
    """A proxy before the server of a kind, where clients that are opened from now on arrive."""
    endpoint = request.getfixturevalue(f"{kind}_endpoint")
    trouble = TroubledProxy(endpoint)
    variable = ENDPOINTS[kind]
    monkeypatch.setenv(variable, os.environ[variable].replace(endpoint, trouble.url))
    return trouble


@pytest.fixture(params=sorted(ENDPOINTS))
def troubled(request, monkeypatch):
    """A store behind a proxy that can make trouble, and the proxy."""
    root = bucket_root(request.param, request)
    trouble = between(request.param, request, monkeypatch)
    store = open_store.__wrapped__(root)
    # Clients and tenacity wait between attempts; how long is not what is tested.
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    yield store, trouble
    store.close()
    trouble.close()
    # Connections on which a client gave up are closed by nobody else.
    del store
    gc.collect()
