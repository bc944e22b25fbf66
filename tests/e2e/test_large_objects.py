"""A large object of records is read in ranges, each in a shard of its own: the rows are those of reading it whole."""

import json
import os

import pyarrow.parquet as pq
import pytest

from transforms.model.errors import PreconditionError, RejectedError, StorageError

SMALL = {"workers": 1, "shard_bytes": 1024}
LARGE = {"workers": 1, "shard_bytes": 2**20}
BY_ID = {"extract": {"records": {"documents": "record", "id": "id", "text": ["t"]}}}
BY_NUMBER = {"extract": {"records": {"documents": "record"}}}


def record(name, text="", size=80):
    words = f"{text or f'Text of {name}.'} {'pump ' * (size // 5)}".strip()
    return {"id": name, "t": words}


RECORDS = [record(f"r{n:03}", size=20 + n * 7 % 150) for n in range(60)]


def lines(records):
    return "".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in records)


def table(records):
    return "id,t\n" + "".join(f'{one["id"]},"{one["t"]}"\n' for one in records)


def content(world, kind):
    """All rows, but for the numbers of snapshots and for what names the table's own place."""
    return [{**row, "changed_in": None, "source": None} for row in world.rows(kind)]


def shards(world):
    return sorted(path.name for path in world.snapshot(world.latest()).glob("documents/*/*.parquet"))


def ids(world):
    return [row["doc_id"] for row in world.rows("documents") if row["object_name"] == "x.jsonl"]


def rejected(world):
    rows = pq.read_table(world.snapshot(world.latest()) / "rejected.parquet").to_pylist()
    return sorted((row["doc_id"], row["reason"]) for row in rows)


def deletes(world):
    return set(pq.read_table(world.snapshot(world.latest()) / "deletes.parquet")["chunk_id"].to_pylist())


@pytest.fixture
def twin(world, tmp_path):
    """The same corpus in another table, whose objects are read whole."""
    return type(world)(tmp_path / "twin")


def both(world, twin, name, data, settings):
    for one in (world, twin):
        one.settings = settings
        one.put(name, data)
        one.put("about.md", "# Pumps\n\nThe vent valve stays open.\n")
        one.put("notes/radio.txt", "A note.\n")
    twin_settings = {**settings, "root": str(world.corpus)}
    twin.settings = twin_settings
    return world.run(run=SMALL), twin.run(run=LARGE)


@pytest.mark.parametrize("settings", [BY_ID, BY_NUMBER])
@pytest.mark.parametrize(("name", "data"), [("x.jsonl", lines(RECORDS)), ("x.csv", table(RECORDS))])
def test_a_table_of_ranges_is_the_table_of_the_whole(world, twin, name, data, settings):
    both(world, twin, name, data, settings)
    assert len(shards(world)) > 6
    assert len(shards(twin)) == 1
    assert content(world, "documents") == content(twin, "documents")
    assert content(world, "chunks") == content(twin, "chunks")


NIGHTS = {
    "edited": lambda old: [*old[:20], record("r020", "Another text."), *old[21:]],
    "put in": lambda old: [*old[:3], record("new", size=400), *old[3:]],
    "taken out": lambda old: [*old[:10], *old[25:]],
    "turned round": lambda old: old[::-1],
    "all longer": lambda old: [record(one["id"], one["t"] + " More.") for one in old],
    "shrunk": lambda old: old[:8],
    "grown": lambda old: [*old, *(record(f"s{n}") for n in range(40))],
    "an id twice": lambda old: [*old[:5], record("r050"), *old[5:]],
    "one broken": lambda old: [*old[:30], '{"id": "r030", "t":\n', *old[31:50], *old[52:]],
}


@pytest.mark.parametrize("night", NIGHTS)
@pytest.mark.parametrize("settings", [BY_ID, BY_NUMBER])
def test_the_next_night_is_that_of_an_object_read_whole(world, twin, night, settings):
    both(world, twin, "x.jsonl", lines(RECORDS), settings)
    before = {row["chunk_id"] for row in world.rows()}
    mine, other = both(world, twin, "x.jsonl", lines(NIGHTS[night](RECORDS)), settings)
    for kind in ("documents", "chunks"):
        assert content(world, kind) == content(twin, kind)
        assert [row["changed_in"] for row in world.rows(kind)] == [
            row["changed_in"] for row in twin.rows(kind)
        ]
    assert rejected(world) == rejected(twin)
    assert deletes(world) == deletes(twin) == before - {row["chunk_id"] for row in world.rows()}
    counts = ("documents", "chunks", "rejected", "deleted")
    assert [mine.counts[name] for name in counts] == [other.counts[name] for name in counts]
    assert mine.counts["embedded"] <= other.counts["embedded"] + 1
    assert world.run(run=SMALL).status == "unchanged"


def texts(world):
    return {row["doc_id"]: (row["status"], row["text"]) for row in world.rows("documents")}


def fail(monkeypatch, error, when, where="transforms.stages.extract.extract_isolated"):
    """Let reading fail for some ranges."""
    module, _, name = where.rpartition(".")
    real = getattr(__import__(module, fromlist=[name]), name)

    def failing(*args):
        if when(args[-1]):
            raise error
        return real(*args)

    monkeypatch.setattr(where, failing)


EDITED = [record(one["id"], one["t"] + " More.") for one in RECORDS]


@pytest.mark.parametrize(
    ("error", "where", "reason"),
    [
        (
            RejectedError("timeout", "It took long."),
            "transforms.stages.extract.extract_isolated",
            "timeout",
        ),
        (StorageError("The disk failed."), "transforms.stages.read.read_spans", "unreadable"),
        (PreconditionError("It changed."), "transforms.stages.read.read_spans", "changed_while_reading"),
    ],
)
def test_a_range_that_fails_keeps_its_last_rows_and_the_others_go_on(
    world, monkeypatch, error, where, reason
):
    world.settings = BY_ID
    world.put("x.jsonl", lines(RECORDS))
    world.run(run=SMALL)
    # The cuts fall elsewhere, so that records move from range to range.
    world.put("x.jsonl", lines([record("new", size=300), *EDITED]))
    seen = []

    def is_third(part):
        place = part.spans if hasattr(part, "spans") else part
        seen.append(place)
        return place == seen[0] if len(seen) < 3 else place == seen[2]

    with monkeypatch.context() as patch:
        fail(patch, error, lambda part: is_third(part) and len(seen) == 3, where)
        outcome = world.run(run=SMALL)
    assert outcome.reasons == {reason: 1}
    stale = {doc_id: text for doc_id, (status, text) in texts(world).items() if status == "stale"}
    fresh = {doc_id: text for doc_id, (status, text) in texts(world).items() if status == "ok"}
    assert 3 < len(stale) < 20
    assert all("More." not in text for text in stale.values())
    assert {f"x.jsonl#{one['id']}" for one in EDITED} == {*stale, *fresh} - {
        "about.md", "notes/radio.txt", "x.jsonl#new",
    }  # fmt: skip
    assert len(ids(world)) == len(set(ids(world)))
    outcome = world.run(run=SMALL)
    if reason == "timeout":
        assert outcome.status == "unchanged"
        world.put("x.jsonl", lines([*EDITED, record("newer")]))
        world.run(run=SMALL)
    assert {status for status, _ in texts(world).values()} == {"ok"}
    assert rejected(world) == []


def test_a_range_that_could_not_be_read_on_the_first_night_is_read_on_the_next(world, monkeypatch):
    world.settings = BY_ID
    world.put("x.jsonl", lines(RECORDS))
    with monkeypatch.context() as patch:
        fail(
            patch,
            StorageError("The disk failed."),
            lambda spans: spans[0][0] > 4000,
            "transforms.stages.read.read_spans",
        )
        world.run(run=SMALL)
    assert 20 < len(ids(world)) < 55
    outcome = world.run(run=SMALL)
    assert len(ids(world)) == 60
    assert outcome.counts["rejected"] == 0
    assert outcome.counts["embedded"] < 40


@pytest.mark.parametrize(
    ("error", "reason"),
    [(PreconditionError("It changed."), "changed_while_reading"), (StorageError("No."), "unreadable")],
)
def test_an_object_that_cannot_be_looked_through_is_left_to_the_next_run(world, monkeypatch, error, reason):
    world.settings = BY_ID
    world.put("x.jsonl", lines(RECORDS))
    world.run(run=SMALL)
    before = content(world, "chunks")
    world.put("x.jsonl", lines(EDITED))
    world.put("new.md", "New words.")

    def broken(*_):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("transforms.planning.large.opened_version", broken)
        outcome = world.run(run=SMALL)
    assert outcome.reasons == {reason: 1}
    assert rejected(world) == [("x.jsonl", reason)]
    assert [row for row in content(world, "chunks") if row["doc_id"] != "new.md"] == before
    world.run(run=SMALL)
    assert all("More." in text for name, (_, text) in texts(world).items() if name.startswith("x"))


def test_a_run_that_dies_goes_on_with_the_ranges_that_are_left(world, twin, monkeypatch):
    world.settings = BY_ID
    world.put("x.jsonl", lines(RECORDS))
    world.run(run=SMALL)
    world.put("x.jsonl", lines(EDITED))
    real, done = __import__("transforms.stages.shard", fromlist=["write_shard"]).write_shard, []

    def dying(*args):
        if len(done) == 4:
            raise KeyboardInterrupt
        done.append(real(*args))
        return done[-1]

    with monkeypatch.context() as patch:
        patch.setattr("transforms.stages.shard.write_shard", dying)
        with pytest.raises(KeyboardInterrupt):
            world.run(run=SMALL)
    embedded = sum(receipt.embedded for receipt in done)
    outcome = world.run(run=SMALL)
    assert embedded > 10
    assert outcome.counts["embedded"] == 60
    both(world, twin, "x.jsonl", lines(EDITED), BY_ID)
    assert content(world, "documents") == content(twin, "documents")
    assert content(world, "chunks") == content(twin, "chunks")


def test_a_touched_object_is_looked_through_and_not_read_again(world):
    world.settings = BY_ID
    path = world.put("x.jsonl", lines(RECORDS))
    world.run(run=SMALL)
    before = [row["changed_in"] for row in world.rows("documents")]
    os.utime(path, ns=(1, 1))
    outcome = world.run(run=SMALL)
    assert outcome.work["opened"] == outcome.work["extracted"] == outcome.counts["embedded"] == 0
    assert [row["changed_in"] for row in world.rows("documents")] == before
    assert {row["object_token"] for row in world.rows("documents") if row["object_name"] == "x.jsonl"} == {
        f"{path.stat().st_size}-1"
    }
    assert world.run(run=SMALL).status == "unchanged"


def test_an_object_that_is_gone_leaves_with_all_its_ranges(world):
    world.settings = BY_ID
    path = world.put("x.jsonl", lines(RECORDS))
    world.run(run=SMALL)
    gone = {row["chunk_id"] for row in world.rows() if row["doc_id"].startswith("x")}
    path.unlink()
    outcome = world.run(run=SMALL)
    assert ids(world) == []
    assert outcome.counts["deleted"] == len(gone) > 59
    assert deletes(world) == gone
    assert len(shards(world)) == 1


@pytest.mark.parametrize("change", [{"strategy": "window"}, {"strategy": "window", "store_text": False}])
def test_another_recipe_is_that_of_an_object_read_whole(world, twin, change):
    both(world, twin, "x.jsonl", lines(RECORDS), BY_ID)
    both(world, twin, "x.jsonl", lines(RECORDS), {**BY_ID, **change})
    assert content(world, "documents") == content(twin, "documents")
    assert content(world, "chunks") == content(twin, "chunks")


def test_an_object_may_grow_beyond_a_shard_and_become_small_again(world, twin):
    both(world, twin, "x.jsonl", lines(RECORDS[:5]), BY_ID)
    for records, run in ((RECORDS, SMALL), (RECORDS[:50], LARGE), (EDITED, SMALL), (EDITED[:2], SMALL)):
        world.put("x.jsonl", lines(records))
        world.run(run=run)
        twin.run(run=LARGE)
        for kind in ("documents", "chunks"):
            assert content(world, kind) == content(twin, kind)
            assert [row["changed_in"] for row in world.rows(kind)] == [
                row["changed_in"] for row in twin.rows(kind)
            ]


def test_limits_are_of_a_range_and_not_of_the_object(world):
    world.settings = BY_ID
    world.put("x.jsonl", lines(RECORDS))
    limits = {"max_object_bytes": 3000, "max_rejected_share": 0.9}
    outcome = world.run(run=SMALL, limits=limits)
    assert outcome.counts["rejected"] == 0
    assert len(ids(world)) == 60
    world.put("x.jsonl", lines([record("long", size=9000), *RECORDS]))
    assert world.run(run=SMALL, limits=limits).reasons == {"too_large": 1}
    assert len(ids(world)) == 60


def test_records_of_one_id_are_told_apart_in_whatever_ranges_they_are(world):
    world.settings = BY_ID
    world.put("x.jsonl", lines([*RECORDS, record("r001"), record("r001 (2)"), record("r001")]))
    world.run(run=SMALL)
    names = [one for one in ids(world) if one.startswith("x.jsonl#r001")]
    assert names == ["x.jsonl#r001", "x.jsonl#r001 (2)", "x.jsonl#r001 (2) (2)", "x.jsonl#r001 (3)"]
