"""A node of OpenSearch with its k-NN plugin, from Maven's packages, which ends with its block and with this process."""

import shutil
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.servers.buckets import free_port, serving

_PACKAGES = Path(__file__).parents[3] / "build/opensearch"
"""Where `make opensearch` puts them."""
_NODE = Path(__file__).parent / "opensearch_node/Node.java"


def missing():
    """Why there is no server, or None."""
    if shutil.which("java") is None:
        return "no java"
    there = all(any(_PACKAGES.glob(name)) for name in ("opensearch-*.jar", "mapper-extras-*.jar"))
    return None if there else f"not all of it is in {_PACKAGES}: make opensearch"


@contextmanager
def opensearch_server():
    """The URL of a node of its own on loopback."""
    folder = Path(tempfile.mkdtemp(prefix="parquetry-opensearch-"))
    for package in _PACKAGES.glob("*.zip"):
        with zipfile.ZipFile(package) as plugin:
            plugin.extractall(folder / "plugin")
    (folder / "config").mkdir()
    (folder / "config/log4j2.properties").write_text("status = error\nrootLogger.level = error\n")
    port = free_port()
    classes = f"{_PACKAGES}/*:{folder}/plugin/*"
    command = [
        "java",
        "-Xmx512m",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-cp",
        classes,
        str(_NODE),
        str(folder),
        str(port),
    ]
    try:
        with serving(command, port, patience=300) as url:
            health = {"wait_for_status": "yellow", "timeout": "60s"}
            httpx.get(f"{url}/_cluster/health", params=health, timeout=90).raise_for_status()
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)
