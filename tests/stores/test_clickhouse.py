"""ClickHouse over HTTP: the same loader as for chDB, to a server in another process."""

import subprocess
import sys

import pytest

from tests.stores.adapters import chdb
from tests.stores.history import at, rows
from tests.stores.servers.clickhouse import PASSWORD, USER, running
from tests.stores.test_contract import seen
from transforms.loaders.load import load
from transforms.loaders.settings import LoadSettings
from transforms.model.errors import ConfigError, StorageError


def test_a_server_is_loaded_in_full_by_changes_and_back(table, tmp_path, monkeypatch):
    monkeypatch.setenv("CLICKHOUSE_PASSWORD", PASSWORD)
    with running(tmp_path / "data") as port:
        to = f"clickhouse://{USER}@127.0.0.1:{port}/default"
        kinds = [load(at(table, n), LoadSettings(to=to, batch=50)).kind for n in (1, 2, 2, 4, 5)]
        assert kinds == ["full", "changes", "nothing", "changes", "full"]
        load(at(table, 3), LoadSettings(to=f"{to}#live", into="blue", switch=True))
    assert chdb.rows(f"chdb:{tmp_path}/data", "chunks") == seen(rows(table, 5))
    assert chdb.rows(f"chdb:{tmp_path}/data", "live") == seen(rows(table, 3))


def test_what_a_server_refuses_is_told(table, tmp_path, monkeypatch):
    monkeypatch.setenv("OTHER", "wrong-word")
    with running(tmp_path / "data") as port:
        to = f"clickhouse://{USER}@127.0.0.1:{port}/default?password_env=OTHER"
        with pytest.raises(StorageError, match="Authentication failed"):
            load(at(table, 1), LoadSettings(to=to))
    with pytest.raises(StorageError, match=r"Connection refused"):
        load(at(table, 1), LoadSettings(to=to))


@pytest.mark.parametrize("to", ["clickhouse:x", "clickhouse://me:word@host/default"])
def test_an_address_without_a_host_or_with_a_password_is_refused(table, to):
    with pytest.raises(ConfigError, match=r"names no host|has no place in an address"):
        load(at(table, 1), LoadSettings(to=to))


def test_hnsw_is_an_index_of_the_table(table, tmp_path):
    load(at(table, 1), LoadSettings(to=f"chdb:{tmp_path}/data", index={"kind": "hnsw"}))
    query = "SELECT type FROM system.data_skipping_indices WHERE table = 'chunks'"
    program = (
        f"from chdb import session; print(session.Session({str(tmp_path / 'data')!r}).query({query!r}))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == '"vector_similarity"'
