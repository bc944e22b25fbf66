"""What an interrupted run has left counts only as it was left: a damaged shard is done again, the others are not."""

import json

import pytest

from pipeline.run import run_job
from transforms.model.errors import StorageError


@pytest.fixture
def interrupted(world, monkeypatch):
    """A first run of several shards that did all of its work and could not publish; and the run after it."""
    for n in range(12):
        world.put(f"pages/{n:02}.md", f"# Page {n}\n\n" + f"Sentence {n} about wheels and valves. " * 40)
    config = world.config(
        embedder={"kind": "hash", "dimension": 4}, run={"workers": 1, "shard_bytes": 4096}
    )
    with monkeypatch.context() as trouble:
        trouble.setattr("transforms.stages.commit.publish", _fail)
        with pytest.raises(StorageError):
            run_job(config)
    return lambda: run_job(config)


def _fail(store, draft, inspect):
    raise StorageError("The disk is full.")


def receipts(world):
    return sorted(world.snapshot(1).rglob("_done/*/*.json"))


def files(world):
    return {
        path.relative_to(world.table): path.read_bytes()
        for kind in ("chunks", "documents")
        for path in sorted((world.snapshot(1) / kind).rglob("*.parquet"))
    }


def empty(path):
    path.write_bytes(b"")


def half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def delete(path):
    path.unlink()


@pytest.mark.parametrize("harm", [empty, half, flip, delete])
@pytest.mark.parametrize("kind", ["_done", "chunks", "documents"])
def test_a_damaged_shard_is_done_again_and_the_others_are_not(world, interrupted, kind, harm):
    before = files(world)
    written = {path: path.stat().st_mtime_ns for path in receipts(world)}
    assert len(written) >= 4
    harm(sorted((world.snapshot(1) / kind).rglob("*.*"))[0])
    outcome = interrupted()
    assert outcome.status == "published"
    assert files(world) == before
    again = [path for path in receipts(world) if path.stat().st_mtime_ns != written[path]]
    # A byte of a receipt that says nothing of the files, as of a count, can change without a trace.
    assert len(again) == 1 or (kind, harm) == ("_done", flip)


def test_a_receipt_that_names_other_files_is_none(world, interrupted):
    (first, second, *_) = receipts(world)
    record = json.loads(first.read_text())
    record["files"] = json.loads(second.read_text())["files"]
    first.write_text(json.dumps(record))
    before = files(world)
    assert interrupted().status == "published"
    assert files(world) == before


@pytest.mark.parametrize("name", ["manifest.json", "rejected.parquet", "chunks"])
def test_an_old_snapshot_that_is_damaged_stops_no_run(world, name):
    config = world.config(embedder={"kind": "hash", "dimension": 4})
    run_job(config)
    world.put("more.md", "# More\n\nMore text.\n")
    run_job(config)
    for path in world.snapshot(1).rglob("*.*"):
        if name in str(path):
            path.unlink()
            path.write_bytes(b"junk")
    world.put("more.md", "# More\n\nText again.\n")
    assert run_job(config).snapshot == 3
