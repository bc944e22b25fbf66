"""A damaged table says in one sentence which file it is and what helps, and nobody works on without it."""

import json

import pytest

from transforms.model.errors import TableError
from transforms.table.compare import compare_snapshots
from transforms.table.history import published, rollback
from transforms.table.layout import DOCUMENTS
from transforms.table.lease import read_claim
from transforms.table.pointer import read_pointer
from transforms.table.publish import publish
from transforms.table.reader import Snapshot
from transforms.table.recognise import require_pointer, require_table_or_empty
from transforms.table.verify import BYTES_IN_TURN, in_turn, is_whole

DOCUMENTS_FILE = "snapshots/000002/documents/source=docs/s1.parquet"
CHUNKS_FILE = "snapshots/000002/chunks/source=docs/s2.parquet"
MANIFEST = "snapshots/000002/manifest.json"
REMEDY = r"Put it back from a backup, send readers to another snapshot with `parquetry rollback \S+ --to N`, or name"


@pytest.fixture
def table(store, write_shard, draft):
    """Two snapshots of two shards; the second keeps s1."""
    publish(store, draft(1, new=(*write_shard(store, 1, "s1", ["a"]), *write_shard(store, 1, "s2", ["b"]))))
    kept = [file for file in Snapshot.open(store, 1).manifest.files if "s1" in file.path]
    publish(store, draft(2, parent=1, new=write_shard(store, 2, "s2", ["c"]), kept=kept))
    return store


def half(data):
    return data[: len(data) // 2]


def flipped(data):
    return data[:100] + bytes([data[100] ^ 1]) + data[101:]


def junk(data):
    return b"junk"


def read_all(store):
    snapshot = Snapshot.newest(store)
    snapshot.shard_table(DOCUMENTS, "docs", "s1")
    list(snapshot.chunks())
    snapshot.rejected()


@pytest.mark.parametrize("path", [DOCUMENTS_FILE, CHUNKS_FILE, "snapshots/000002/rejected.parquet"])
@pytest.mark.parametrize("harm", [half, junk, None])
def test_a_damaged_file_is_named_with_what_helps(table, path, harm):
    if harm is None:
        table.delete([path])
    else:
        table.write(path, harm(table.read(path)))
    fault = "is missing" if harm is None else "is damaged: .*"
    with pytest.raises(TableError, match=rf"{path} {fault}\. {REMEDY}"):
        read_all(table)


def test_a_file_of_another_kind_is_damaged_too(table):
    table.write(CHUNKS_FILE, table.read(DOCUMENTS_FILE))
    with pytest.raises(TableError, match=f"{CHUNKS_FILE} is damaged"):
        list(Snapshot.newest(table).chunks(["chunk_id"]))


def test_two_snapshots_of_which_one_is_damaged_are_not_compared(table):
    table.write(CHUNKS_FILE, b"")
    with pytest.raises(TableError, match=f"{CHUNKS_FILE} is damaged"):
        compare_snapshots(table, 1, 2)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"counts": {}}, "the counts lack documents"),
        ({"files": []}, "the chunks files hold 0 rows and 2 were counted"),
        ({"snapshot": 1}, "it is that of snapshot 1"),
        ({"sources": {}}, "no file of source `docs` is called"),
        ({"recipe": None}, "recipe: Input should be an object"),
        ({"schema_version": "x"}, "was not written by this program: schema_version is 'x'"),
    ],
)
def test_a_manifest_that_contradicts_itself_is_damaged(table, change, fault):
    table.write(MANIFEST, json.dumps(json.loads(table.read(MANIFEST)) | change).encode())
    with pytest.raises(TableError, match=rf"{MANIFEST} .*{fault}.*\. {REMEDY}"):
        read_all(table)


@pytest.mark.parametrize("path", ["../../x.parquet", "chunks/source=other/s2.parquet", "manifest.json", ""])
def test_a_manifest_names_files_of_its_own_sources_only(table, path):
    record = json.loads(table.read(MANIFEST))
    record["files"][0]["path"] = path
    table.write(MANIFEST, json.dumps(record).encode())
    with pytest.raises(TableError, match="is damaged: no file of source `docs` is called"):
        read_all(table)


def test_a_snapshot_that_is_gone_is_named_with_what_helps(table):
    table.delete([MANIFEST])
    with pytest.raises(
        TableError,
        match=rf"has no published snapshot 2: \S+{MANIFEST} is missing.*parquetry snapshots .* --to N",
    ):
        read_all(table)
    assert rollback(table, 1).snapshot == 1
    read_all(table)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b'{"schema_version": 1, "snapshot": 3, "highest": 2, "manifest": ""}']
)
def test_a_damaged_pointer_is_written_again_by_a_rollback(table, content):
    table.write("latest.json", content)
    with pytest.raises(
        TableError, match=r"latest\.json .*\. Delete it; `parquetry rollback \S+` writes it again"
    ):
        require_pointer(table)
    table.delete(["latest.json"])
    assert rollback(table).snapshot == 2


def test_a_table_without_its_pointer_is_never_begun_anew(table):
    pointer = read_pointer(table)
    table.delete(["latest.json"])
    for ask in (require_table_or_empty, require_pointer, published):
        with pytest.raises(
            TableError, match=r"latest\.json is missing: snapshot 2 was .*rollback \S+ --to 2`"
        ):
            ask(table)
    rollback(table, 1)
    assert (read_pointer(table).snapshot, read_pointer(table).highest) == (1, 2)
    rollback(table, 2)
    assert read_pointer(table) == pointer


def test_an_old_pointer_from_a_backup_gives_no_number_twice(table):
    old = table.read("latest.json").replace(b"2", b"1")
    table.write("latest.json", old)
    with pytest.raises(TableError, match=r"latest\.json is an old one: snapshot 2 was published there"):
        require_table_or_empty(table)
    rollback(table, 1)
    assert (read_pointer(table).snapshot, read_pointer(table).highest) == (1, 2)
    require_table_or_empty(table)


def test_a_run_that_died_before_its_last_step_was_not_published(table):
    manifest = table.read(MANIFEST).replace(b'"snapshot": 2', b'"snapshot": 3')
    table.write("snapshots/000003/manifest.json", manifest)
    table.write("snapshots/000003/_plan/_claim.json", b"{}")
    require_table_or_empty(table)


@pytest.mark.parametrize("time", ["2026-11-30T10:00:00", "soon"])
def test_a_claim_without_a_time_is_damaged(store, time):
    record = {"run_id": "r", "host": "h", "pid": 1, "since": time, "expires_at": time}
    store.write("snapshots/000001/_plan/_claim.json", json.dumps(record).encode())
    with pytest.raises(TableError, match=r"claim\.json is damaged: .*Where no run is at work, delete it"):
        read_claim(store, 1)


@pytest.mark.parametrize("harm", [half, flipped])
def test_a_file_that_changed_since_it_was_written_is_not_published(table, write_shard, draft, harm):
    new = write_shard(table, 3, "s3", ["d"])
    kept = Snapshot.open(table, 2).manifest.files
    path = f"snapshots/000003/{new[0].path}"
    whole = table.read(path)
    table.write(path, harm(whole))
    with pytest.raises(TableError, match=rf"{path} .*; the snapshot was not published\. Run again"):
        publish(table, draft(3, parent=2, new=new, kept=kept))
    assert read_pointer(table).snapshot == 2
    table.write(path, whole)
    assert publish(table, draft(3, parent=2, new=new, kept=kept)).snapshot == 3


@pytest.mark.parametrize("harm", [half, flipped, None])
def test_a_kept_file_that_is_damaged_is_not_published_again(table, write_shard, draft, harm):
    kept = Snapshot.open(table, 2).manifest.files
    if harm is None:
        table.delete([CHUNKS_FILE])
    else:
        table.write(CHUNKS_FILE, harm(table.read(CHUNKS_FILE)))
    with pytest.raises(TableError, match=rf"{CHUNKS_FILE} .*\. {REMEDY}"):
        publish(table, draft(3, parent=2, new=write_shard(table, 3, "s3", ["d"]), kept=kept))
    assert read_pointer(table).snapshot == 2


def test_files_are_whole_only_with_their_very_bytes(table, write_shard):
    files = write_shard(table, 3, "s3", ["d"])
    assert is_whole(table, 3, files)
    path = f"snapshots/000003/{files[0].path}"
    whole = table.read(path)
    for harm in (half, flipped, junk):
        table.write(path, harm(whole))
        assert not is_whole(table, 3, files)
    table.delete([path])
    assert not is_whole(table, 3, files)
    assert is_whole(table, 3, [])


def test_every_kept_file_has_its_turn(table):
    (file, *_) = Snapshot.open(table, 1).manifest.files
    files = [
        type(file)(f"{n}", "docs", 1, BYTES_IN_TURN // 8, f"{n * 2**20:08x}{'0' * 56}") for n in range(40)
    ]
    turns = [in_turn(files, number) for number in range(5)]
    assert sorted(file.path for turn in turns for file in turn) == sorted(file.path for file in files)
    assert max(map(len, turns)) == 8
    assert in_turn(files[:8], 7) == files[:8]
    assert in_turn([], 7) == []
