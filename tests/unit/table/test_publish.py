"""What a published snapshot holds and says, and what keeps one from being published."""

import json
from dataclasses import replace
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from transforms.model.errors import GuardError, TableError
from transforms.model.shard import FileInfo, Rejection
from transforms.table.layout import CHUNKS, DOCUMENTS, shard_path
from transforms.table.pointer import read_pointer
from transforms.table.publish import publish
from transforms.table.reader import Snapshot
from transforms.table.recognise import require_table_or_empty
from transforms.table.writer import write_table

REJECTION = Rejection(
    "docs", "bad.pdf", "bad.pdf", "/in/bad.pdf", "extract", "pdf_encrypted", "It asks for a password.", 7, "t", "r"
)  # fmt: skip


@pytest.fixture
def first(store, write_shard, draft):
    """A table of one snapshot: shard s1 with documents a and b, shard s2 with c."""
    new = (*write_shard(store, 1, "s1", ["a", "b"]), *write_shard(store, 1, "s2", ["c"]))
    return publish(store, draft(1, new=new, rejected=[REJECTION]))


def folder(store, number=1):
    return f"{store.root}/snapshots/{number:06}/chunks"


def chunk_ids(store, number=1):
    frame = ds.dataset(folder(store, number), format="parquet", partitioning="hive").to_table()
    return sorted(frame["chunk_id"].to_pylist())


def test_a_published_snapshot_says_what_it_holds(store, first):
    assert first.counts["documents"] == 3
    assert first.counts["chunks"] == 3
    assert first.counts["rejected"] == 1
    assert first.sources["docs"].slug == "docs"
    assert [file.path for file in first.files] == [
        "chunks/source=docs/s1.parquet",
        "chunks/source=docs/s2.parquet",
        "documents/source=docs/s1.parquet",
        "documents/source=docs/s2.parquet",
    ]
    pointer = read_pointer(store)
    assert (pointer.snapshot, pointer.highest) == (1, 1)
    assert pointer.manifest == "snapshots/000001/manifest.json"
    assert Snapshot.open(store, 1).manifest == first


def test_the_manifest_is_json_with_the_names_that_are_promised(store, first):
    manifest = json.loads(store.read("snapshots/000001/manifest.json"))
    assert set(manifest) >= {
        "schema_version", "snapshot", "parent", "created_at", "program", "recipe", "files", "sources", "counts",
    }  # fmt: skip
    assert set(manifest["files"][0]) == {"path", "rows", "bytes", "sha256", "source"}
    assert set(manifest["counts"]) == set(manifest["sources"]["docs"]["counts"])


def test_any_reader_of_hive_partitions_sees_the_rows(store, first):
    assert chunk_ids(store) == ["a-0", "b-0", "c-0"]
    frame = pd.read_parquet(folder(store))
    assert sorted(frame["chunk_id"]) == ["a-0", "b-0", "c-0"]
    assert set(frame["source"].astype(str)) == set(frame["source_name"]) == {"docs"}
    sql = f"SELECT chunk_id FROM read_parquet('{folder(store)}/**/*.parquet', hive_partitioning=true) ORDER BY 1"
    assert [row[0] for row in duckdb.sql(sql).fetchall()] == ["a-0", "b-0", "c-0"]


def test_kept_files_are_links_and_the_rest_is_new(store, first, write_shard, draft):
    new = write_shard(store, 2, "s2", ["c", "d"])
    kept = [file for file in first.files if "s1" in file.path]
    publish(store, draft(2, parent=1, new=new, kept=kept))
    assert chunk_ids(store, 2) == ["a-0", "b-0", "c-0", "d-0"]
    assert chunk_ids(store, 1) == ["a-0", "b-0", "c-0"]
    one, two = (Path(folder(store, n), "source=docs/s1.parquet") for n in (1, 2))
    assert one.samefile(two)


def test_files_that_the_manifest_does_not_name_go(store, first, write_shard, draft):
    new = write_shard(store, 2, "s9", ["z"])
    write_shard(store, 2, "left-over", ["y"])
    publish(store, draft(2, parent=1, new=new))
    assert chunk_ids(store, 2) == ["z-0"]


def test_rejected_rows_and_deletes_are_tables(store, first, write_shard, draft):
    assert Snapshot.open(store, 1).rejected().to_pylist()[0]["reason"] == "pdf_encrypted"
    publish(
        store, draft(2, parent=1, new=write_shard(store, 2, "s1", ["a"]), deleted={"docs": ("b-0", "c-0")})
    )
    with store.open("snapshots/000002/deletes.parquet") as file:
        assert pq.read_table(file).to_pylist() == [
            {"chunk_id": "b-0", "source_name": "docs"},
            {"chunk_id": "c-0", "source_name": "docs"},
        ]
    assert Snapshot.open(store, 2).rejected().num_rows == 0


def test_a_table_may_hold_no_rows_at_all(store, draft):
    publish(store, draft(1))
    snapshot = Snapshot.open(store, 1)
    assert list(snapshot.chunks()) == []
    assert snapshot.shard_table(CHUNKS, "docs", "none").num_rows == 0


def test_a_repeated_call_finds_its_own_work(store, first, draft):
    files = first.files
    assert publish(store, draft(1, new=files, rejected=[REJECTION])) == first


def test_another_run_with_the_same_number_is_refused(store, first, write_shard, draft):
    with pytest.raises(GuardError, match="has got snapshot 1"):
        publish(store, draft(1, new=first.files, run_id="late"))
    assert Snapshot.open(store, 1).manifest == first


def test_a_run_planned_on_another_snapshot_is_refused(store, first, write_shard, draft):
    publish(store, draft(2, parent=1, kept=first.files))
    with pytest.raises(GuardError, match="was at snapshot 1 and is at 2"):
        publish(store, draft(3, parent=1, kept=first.files))
    assert read_pointer(store).snapshot == 2


def test_a_run_whose_claim_was_taken_over_publishes_nothing(store, first, draft):
    store.create(
        "snapshots/000002/_plan/_claim.json",
        json.dumps(
            {
                "run_id": "other",
                "host": "h",
                "pid": 1,
                "since": "s",
                "expires_at": "2030-01-01T00:00:00+00:00",
            }
        ).encode(),
    )
    with pytest.raises(GuardError, match="taken over by other on h"):
        publish(store, draft(2, parent=1, kept=first.files))
    assert read_pointer(store).snapshot == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bytes": 1}, "should have 1 bytes and has"),
        ({"path": "chunks/source=docs/none.parquet"}, "is missing"),
        ({"rows": 5}, "should have 5 rows and has 1"),
    ],
)
def test_a_file_that_is_not_what_its_receipt_says_stops_the_publication(
    store, write_shard, draft, change, message
):
    chunks, documents = write_shard(store, 1, "s1", ["a"])
    with pytest.raises(TableError, match=message):
        publish(store, draft(1, new=(replace(chunks, **change), documents)))
    assert read_pointer(store) is None


def test_counts_that_do_not_add_up_stop_the_publication(store, write_shard, draft):
    with pytest.raises(
        TableError, match="was not published: the chunks files hold 1 rows and 2 were counted"
    ):
        publish(store, draft(1, new=write_shard(store, 1, "s1", ["a"]), chunks=2))


class DiedError(Exception):
    pass


class DyingStore:
    """A store that dies before its n-th change, for good."""

    def __init__(self, store, calls):
        self._store = store
        self.left = calls

    def __getattr__(self, name):
        method = getattr(self._store, name)
        if name not in ("write", "create", "replace", "copy", "delete"):
            return method

        def counted(*args):
            self.left -= 1
            if self.left < 0:
                raise DiedError
            return method(*args)

        return counted


@pytest.mark.parametrize("steps", range(12))
def test_after_a_death_at_any_step_readers_see_the_old_snapshot_and_a_new_try_succeeds(
    store, first, write_shard, draft, steps
):
    new = write_shard(store, 2, "s2", ["c", "d"])
    wanted = draft(2, parent=1, new=new, kept=[file for file in first.files if "s1" in file.path])
    dying = DyingStore(store, steps)
    try:
        publish(dying, wanted)
    except DiedError:
        assert read_pointer(store).snapshot == 1
        assert chunk_ids(store, 1) == ["a-0", "b-0", "c-0"]
    publish(store, wanted)
    assert read_pointer(store).snapshot == 2
    assert chunk_ids(store, 2) == ["a-0", "b-0", "c-0", "d-0"]


def test_a_place_with_something_else_is_no_table(store):
    require_table_or_empty(store)
    store.write("thesis/final.docx", b"")
    with pytest.raises(TableError, match="is no table: it holds thesis/"):
        require_table_or_empty(store)


def test_an_unfinished_first_run_is_no_stranger(store, write_shard):
    write_shard(store, 1, "s1", ["a"])
    require_table_or_empty(store)


def test_a_table_stays_one_whatever_lies_beside_it(store, first):
    store.write("README.txt", b"")
    require_table_or_empty(store)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("latest.json", b'{"schema_version": 9, "next": "big"}', "schema version 9.*Upgrade"),
        ("latest.json", b"[]", "not written by this program"),
        ("latest.json", b"\xff", "not written by this program"),
        ("latest.json", b'{"schema_version": 1}', r"is damaged: snapshot: Field required\. Delete it"),
        (
            "snapshots/000001/manifest.json",
            b'{"schema_version": 9, "program": "parquetry 7"}',
            "by parquetry 7",
        ),
        ("snapshots/000001/manifest.json", b'{"schema_version": "1"}', "schema_version is '1'"),
    ],
)
def test_a_record_of_a_newer_program_or_of_none_is_refused(store, first, name, content, message):
    store.write(name, content)
    read = read_pointer if name == "latest.json" else (lambda store: Snapshot.open(store, 1))
    with pytest.raises(TableError, match=message):
        read(store)


def test_a_reader_gets_columns_sources_and_shards(store, first):
    snapshot = Snapshot.open(store, 1)
    batches = list(snapshot.chunks(["chunk_id"], source="docs"))
    assert [row["chunk_id"] for batch in batches for row in batch.to_pylist()] == ["a-0", "b-0", "c-0"]
    assert list(snapshot.chunks(["chunk_id"], source="other")) == []
    assert snapshot.shards(DOCUMENTS, "docs") == ["s1", "s2"]
    assert snapshot.shard_table(DOCUMENTS, "docs", "s2")["doc_id"].to_pylist() == ["c"]
    assert isinstance(next(snapshot.files(CHUNKS)), FileInfo)


def test_a_column_that_an_earlier_version_did_not_write_is_null(store, first, draft):
    rows = Snapshot.open(store, 1).shard_table(CHUNKS, "docs", "s2")
    older = rows.drop_columns(["context_after_start"])
    file = write_table(store, shard_path(2, CHUNKS, "docs", "s3"), older, "docs", {})
    snapshot = Snapshot(store, publish(store, draft(2, parent=1, new=[file])))
    (batch,) = snapshot.chunks(["context_after_start", "chunk_id"])
    assert batch.to_pylist() == [{"context_after_start": None, "chunk_id": "c-0"}]
    with pytest.raises(KeyError):
        list(snapshot.chunks(["no_such_column"]))
