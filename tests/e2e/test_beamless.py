"""What tests run without Beam is what Beam runs: the same nights, the same bytes; and what a month of nights leaves."""

import datetime

import pytest

from tests.support import beamless
from transforms.storage.registry import open_store
from transforms.table.history import published, vacuum

CHEAP = {"kind": "hash", "dimension": 4}


@pytest.fixture
def without_beam(world, monkeypatch):
    def run(**changes):
        with monkeypatch.context() as patched:
            patched.setattr("pipeline.run._run", beamless.work)
            return world.run(**changes)

    return run


def files(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*.parquet"))
        if path.parent.name.startswith("source=")
    }


def test_nights_with_beam_and_without_it_publish_the_same_bytes(world, without_beam):
    options = {"embedder": CHEAP, "run": {"workers": 1, "shard_bytes": 1024}}
    for n in range(12):
        world.put(f"pages/{n:02}.md", f"# Page {n}\n\n" + f"Sentence {n} about wheels. " * 20)
    other = str(world.folder / "without")

    def night():
        with_beam = world.run(**options)
        without = without_beam(table=other, **options)
        assert (with_beam.status, with_beam.counts) == (without.status, without.counts)
        number = with_beam.snapshot
        assert files(world.snapshot(number)) == files(world.folder / f"without/snapshots/{number:06}")

    night()
    world.put("pages/03.md", "# Page 3\n\nAnother text.\n")
    world.put("pages/05.md", b"")
    (world.corpus / "pages/07.md").rename(world.corpus / "pages/7.md")
    (world.corpus / "pages/09.md").unlink()
    night()
    world.put("pages/05.md", "# Page 5\n\nMended.\n")
    options["embedder"] = CHEAP | {"dimension": 3}
    night()


def test_a_month_of_edits_leaves_the_rows_of_the_files_and_the_snapshots_that_are_kept(
    world, without_beam, monkeypatch
):
    monkeypatch.setattr("os.fsync", lambda handle: None)
    outcome = without_beam(embedder=CHEAP)
    store = open_store(str(world.table))
    for day in range(1, 31):
        world.put("diary.md", f"# Diary\n\nThis is what happened on day {day} of the month.\n")
        outcome = without_beam(embedder=CHEAP)
        vacuum(store, keep=3, grace=datetime.timedelta(0))
    assert outcome.counts["documents"] == 3
    assert outcome.counts["chunks"] == len(world.rows())
    assert [row["text"] for row in world.rows() if row["doc_id"] == "diary.md"] == [
        "# Diary\n\nThis is what happened on day 30 of the month.\n"
    ]
    assert [manifest.snapshot for manifest in published(store)] == [29, 30, 31]
    assert len(list((world.table / "snapshots").iterdir())) == 3
