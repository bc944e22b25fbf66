"""Names that mean something to a store, and things of other people that lie under a name."""

import contextlib

import pytest

from tests.stores.adapters import postgres, sqlite
from tests.stores.history import at
from transforms.loaders.load import load
from transforms.loaders.plan import Wishes
from transforms.loaders.settings import LoadSettings
from transforms.model.errors import ConfigError, GuardError, StorageError

ODD = ["it's", 'say "so"', "x; DROP TABLE chunks", "grüße 你好", "100%", "%s"]


def _load(store, to, *, adopt=False, **settings):
    return load(store, LoadSettings(to=to, **settings), Wishes(adopt=adopt))


@pytest.fixture(scope="module")
def database():
    with postgres.started() as address:
        yield address(None)


@pytest.mark.parametrize("name", ODD)
def test_postgresql_takes_names_of_any_characters(table, database, name):
    to, columns = f"{database}#{name}", {"chunk_id": f"id {name}", "embedding": f"v {name}", "text": name}
    for number in (1, 2):
        done = _load(at(table, number), to, columns=columns)
    assert done.kind == "changes"
    assert _load(at(table, 2), to, columns=columns).kind == "nothing"


@pytest.mark.parametrize("name", ["..", ".", "../up", "a/b", "/tmp"])
def test_the_name_of_a_collection_does_not_lead_out_of_the_folder_of_indexes(table, tmp_path, name):
    (tmp_path / "rows-mine.parquet").touch()
    with pytest.raises(ConfigError, match="is no name of a collection"):
        _load(at(table, 1), f"faiss:{tmp_path}/faiss#{name}")
    with pytest.raises(ConfigError, match="is no name of a collection"):
        _load(at(table, 1), f"faiss:{tmp_path}/faiss#live", into=name, switch=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows-mine.parquet", "table"]


@pytest.mark.parametrize("name", ["parquetry_state", "Parquetry_State", "a\0b", "a\nb"])
def test_names_that_loads_use_themselves_and_control_characters_are_refused(table, tmp_path, name):
    for settings in ({"to": f"lancedb:{tmp_path}/x#{name}"}, {"to": f"lancedb:{tmp_path}/x", "into": name}):
        with pytest.raises(ConfigError):
            _load(at(table, 1), **settings)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ("chdb:{}/x", ["p{0}", "a*b", "p?"]),
        ("lancedb:{}/x", ["a b", "..", "grüße"]),
        ("chroma:{}/x", ["ab", "a b c", "chunks-"]),
        ("milvus:{}/x.db", ["1a", "a-b"]),
    ],
)
def test_a_name_that_the_store_has_no_collections_of_is_refused_before_anything_is_written(
    table, tmp_path, place, names
):
    to = place.format(tmp_path)
    for name in names:
        for settings in ({"to": f"{to}#{name}"}, {"to": to, "into": name}):
            with pytest.raises(ConfigError, match="is no name of a collection of"):
                _load(at(table, 1), **settings)


@pytest.mark.parametrize("theirs", ["chunks", "chunks_vectors"])
def test_a_table_of_somebody_else_in_sqlite_is_refused_unless_it_is_adopted(table, tmp_path, theirs):
    to = f"sqlite:{tmp_path}/x.db"
    with sqlite.opened(to) as db:
        db.execute(f"CREATE TABLE {theirs} (a)")
        db.execute(f"INSERT INTO {theirs} VALUES (7)")
        db.commit()
    with pytest.raises(GuardError, match="is there already, and no load has made it"):
        _load(at(table, 1), to)
    with sqlite.opened(to) as db:
        assert db.execute(f"SELECT a FROM {theirs}").fetchall() == [(7,)]
    done = _load(at(table, 1), to, adopt=True)
    assert (done.why, done.rows) == ("it was taken over", len(sqlite.rows(to, "chunks")))


def test_a_table_of_somebody_else_where_words_would_be_indexed_in_sqlite_is_left_alone(table, tmp_path):
    to = f"sqlite:{tmp_path}/x.db"
    with sqlite.opened(to) as db:
        db.execute("CREATE TABLE chunks_words (a)")
        db.execute("INSERT INTO chunks_words VALUES (7)")
        db.commit()
    with pytest.raises(StorageError, match="chunks_words"):
        _load(at(table, 1), to)
    for number in (1, 2):
        assert _load(at(table, number), to, full_text=False).rows
    with sqlite.opened(to) as db:
        assert db.execute("SELECT a FROM chunks_words").fetchall() == [(7,)]


def test_vectors_that_are_gone_from_sqlite_are_noticed(table, tmp_path):
    to = f"sqlite:{tmp_path}/x.db"
    _load(at(table, 1), to)
    with sqlite.opened(to) as db:
        db.execute("DROP TABLE chunks_vectors")
    with pytest.raises(GuardError, match="has 0 rows, and the last load left"):
        _load(at(table, 1), to)


def test_a_table_of_somebody_else_in_clickhouse_is_refused_unless_it_is_adopted(table, tmp_path):
    session = pytest.importorskip("chdb.session")
    with contextlib.closing(session.Session(str(tmp_path / "ch"))) as db:
        db.query("CREATE TABLE chunks (a Int32) ENGINE = MergeTree ORDER BY a")
        db.query("INSERT INTO chunks VALUES (7)")
    with pytest.raises(GuardError, match="is there already, and no load has made it"):
        _load(at(table, 1), f"chdb:{tmp_path}/ch")
    assert _load(at(table, 1), f"chdb:{tmp_path}/ch", adopt=True).why == "it was taken over"
