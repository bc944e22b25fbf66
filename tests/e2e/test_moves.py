"""A corpus that moves: its rows say where it is now, and nothing else about it is done again."""

import pyarrow.parquet as pq
import pytest

from pipeline.run import run_job
from transforms.stages import extract


@pytest.fixture
def night(world, monkeypatch):
    """A run with the corpus at a root."""
    monkeypatch.chdir(world.folder)
    # Whatever opens as text and holds no text.
    world.put("bad.pdf", b"%PDF-1.4 and no more")

    def run(root, **changes):
        sources = [{"name": "docs", "root": root}]
        settings = {"embedder": {"kind": "hash", "dimension": 4}, "sources": sources} | changes
        return run_job(world.config(**settings))

    return run


def places(world, kind):
    return sorted({row["doc_uri"] for row in world.rows(kind)})


def rejected(world):
    rows = pq.read_table(world.snapshot(world.latest()) / "rejected.parquet").to_pylist()
    return [row["doc_uri"] for row in rows]


def without_place(rows):
    ours = ("doc_uri", "changed_in")
    return [{name: value for name, value in row.items() if name not in ours} for row in rows]


def test_rows_of_a_corpus_that_moved_name_the_new_place_and_nothing_is_made_again(
    night, world, monkeypatch
):
    night("corpus")
    before = {kind: world.rows(kind) for kind in ("documents", "chunks")}
    assert rejected(world) == ["corpus/bad.pdf"]
    world.corpus.rename(world.folder / "moved")
    monkeypatch.setattr(extract, "extract_isolated", lambda *_: pytest.fail("extracted again"))
    outcome = night("moved")
    assert (outcome.snapshot, outcome.counts["embedded"], outcome.counts["deleted"]) == (2, 0, 0)
    for kind in ("documents", "chunks"):
        assert places(world, kind) == ["moved/about.md", "moved/notes/radio.txt"]
        assert without_place(world.rows(kind)) == without_place(before[kind])
        assert {row["changed_in"] for row in world.rows(kind)} == {2}
    assert rejected(world) == ["moved/bad.pdf"]
    assert night("moved").status == "unchanged"


def test_one_place_written_in_other_ways_is_no_move(night, world):
    night("corpus")
    for root in ("./corpus", "corpus/", ".//corpus"):
        assert night(root).status == "unchanged"


def test_a_document_that_cannot_be_read_any_more_moves_with_its_last_rows(night, world):
    night("corpus")
    world.put("about.md", b"\x00\x01\x02\x03" * 100)
    night("corpus")
    assert {row["doc_id"]: row["status"] for row in world.rows("documents")}["about.md"] == "stale"
    world.corpus.rename(world.folder / "moved")
    night("moved")
    rows = {row["doc_id"]: row for row in world.rows("documents")}
    assert (rows["about.md"]["status"], rows["about.md"]["doc_uri"]) == ("stale", "moved/about.md")
    assert places(world, "chunks") == ["moved/about.md", "moved/notes/radio.txt"]
    assert sorted(rejected(world)) == ["moved/about.md", "moved/bad.pdf"]
    assert night("moved").status == "unchanged"


def test_a_move_and_an_edit_at_once_embed_the_edit_alone(night, world):
    night("corpus")
    world.put("notes/radio.txt", "A note of today.\n")
    world.corpus.rename(world.folder / "moved")
    outcome = night("moved")
    assert (outcome.counts["embedded"], outcome.counts["documents"]) == (1, 2)
    assert places(world, "chunks") == ["moved/about.md", "moved/notes/radio.txt"]


def test_a_corpus_that_holds_only_bad_files_moves_too(night, world):
    for name in ("about.md", "notes/radio.txt"):
        (world.corpus / name).unlink()
    limits = {"max_rejected_share": 1}
    night("corpus", limits=limits)
    world.corpus.rename(world.folder / "moved")
    assert night("moved", limits=limits).status == "published"
    assert rejected(world) == ["moved/bad.pdf"]


def test_a_run_that_is_interrupted_before_a_move_leaves_no_old_place_behind(night, world, monkeypatch):
    from transforms.stages import commit

    with monkeypatch.context() as trouble:
        trouble.setattr(commit, "publish", lambda *_: pytest.fail("killed"))
        with pytest.raises(pytest.fail.Exception):
            night("corpus")
    world.corpus.rename(world.folder / "moved")
    night("moved")
    assert places(world, "chunks") == ["moved/about.md", "moved/notes/radio.txt"]
