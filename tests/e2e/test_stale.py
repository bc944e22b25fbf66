"""A document that cannot be read keeps its last good rows until it can, or until its object goes."""

import os

import pyarrow.parquet as pq
import pytest

from transforms.embedders import hashed
from transforms.embedders.hashed import HashEmbedder
from transforms.table.history import rollback

PAGE = "# Doors\n\nThe door opens inwards.\n"


@pytest.fixture
def night(world):
    """A cheap run; the embedder's dimension says which model it is."""

    def run(dimension=2, **changes):
        return world.run(embedder={"kind": "hash", "dimension": dimension, **changes})

    return run


def rows_of(world, doc_id, kind="chunks"):
    return [row for row in world.rows(kind) if row["doc_id"] == doc_id]


def broken(world):
    world.put("page.md", b"")


def feed(world):
    """The chunk ids that a loader would write and delete on the way to the newest snapshot."""
    number = world.latest()
    changed = {row["chunk_id"] for row in world.rows() if row["changed_in"] == number}
    gone = pq.read_table(world.snapshot(number) / "deletes.parquet")["chunk_id"].to_pylist()
    return changed, set(gone)


def test_its_rows_stay_word_for_word_and_its_document_is_marked_in_the_snapshot_in_which_it_broke(
    world, night
):
    world.put("page.md", PAGE)
    night()
    good = rows_of(world, "page.md")
    broken(world)
    assert night().counts["embedded"] == 0
    assert rows_of(world, "page.md") == good
    (document,) = rows_of(world, "page.md", "documents")
    assert (document["status"], document["changed_in"]) == ("stale", 2)
    assert feed(world) == (set(), set())
    assert night().status == "unchanged"
    world.put("other.md", PAGE)
    night()
    (document,) = rows_of(world, "page.md", "documents")
    assert (document["status"], document["changed_in"]) == ("stale", 2)


def test_mended_with_the_same_text_it_costs_nothing_and_no_chunk_has_changed(world, night):
    world.put("page.md", PAGE)
    night()
    good = rows_of(world, "page.md")
    broken(world)
    night()
    world.put("page.md", PAGE)
    assert night().counts["embedded"] == 0
    assert rows_of(world, "page.md") == good
    assert feed(world) == (set(), set())
    (document,) = rows_of(world, "page.md", "documents")
    assert (document["status"], document["changed_in"]) == ("ok", 3)


def test_when_its_object_goes_its_rows_go(world, night):
    world.put("page.md", PAGE)
    night()
    ids = {row["chunk_id"] for row in rows_of(world, "page.md")}
    broken(world)
    night()
    (world.corpus / "page.md").unlink()
    night()
    assert rows_of(world, "page.md") == []
    assert feed(world) == (set(), ids)


def test_a_document_that_was_never_good_has_no_rows(world, night):
    broken(world)
    night()
    assert rows_of(world, "page.md", "documents") == []


def test_under_a_new_model_its_rows_are_embedded_from_what_the_table_holds(world, night):
    world.put("page.md", PAGE)
    night(2)
    good = rows_of(world, "page.md")
    broken(world)
    night(3)
    rows = rows_of(world, "page.md")
    assert [row["embed_text"] for row in rows] == [row["embed_text"] for row in good]
    assert {len(row["embedding"]) for row in world.rows()} == {3}
    assert {row["embed_model"] for row in world.rows()} == {"hash-3@1"}
    (document,) = rows_of(world, "page.md", "documents")
    assert document["status"] == "stale"
    assert night(3).status == "unchanged"


def test_under_a_model_with_a_shorter_input_what_does_not_fit_has_no_vector(world, night):
    world.put("page.md", PAGE)
    night(2)
    broken(world)
    night(3, max_tokens=1)
    (row,) = rows_of(world, "page.md")
    assert row["embedding"] is None
    assert row["warnings"] == ["no_vector"]
    assert night(3, max_tokens=1).status == "unchanged"


class Refusing(HashEmbedder):
    """A server that has come to refuse texts about doors."""

    def embed(self, texts, task="document"):
        vectors = super().embed(texts, task)
        vectors[["door" in text for text in texts]] = float("nan")
        return vectors

    def refusal(self, text):
        return ("embedding_refused", "no doors") if "door" in text else None


def test_a_text_that_a_new_model_refuses_keeps_its_row_without_the_old_vector(world, night, monkeypatch):
    from transforms.embedders import registry

    world.put("page.md", PAGE)
    night(2)
    monkeypatch.setattr(registry, "_built", {})
    monkeypatch.setattr(hashed, "build", lambda settings: Refusing(settings.dimension))
    night(3)
    (row,) = rows_of(world, "page.md")
    assert (row["text"], row["embedding"], row["warnings"]) == (PAGE, None, ["no_vector"])
    (document,) = rows_of(world, "page.md", "documents")
    assert document["status"] == "stale"
    rejected = pq.read_table(world.snapshot(2) / "rejected.parquet").to_pylist()
    assert [(row["doc_id"], row["stage"]) for row in rejected] == [("page.md", "embed")]


def test_after_a_rollback_the_feed_is_against_the_snapshot_that_was_gone_back_to(world, night):
    from transforms.storage.registry import open_store

    world.put("page.md", PAGE)
    night()
    first = {row["chunk_id"]: row for row in world.rows()}
    world.put("page.md", PAGE.replace("inwards", "outwards"))
    night()
    rollback(open_store(str(world.table)), 1)
    world.put("page.md", PAGE.replace("inwards", "to the left"))
    outcome = night()
    assert (outcome.snapshot, world.manifest()["parent"]) == (3, 1)
    changed, gone = feed(world)
    now = {row["chunk_id"]: row for row in world.rows()}
    assert gone == first.keys() - now.keys()
    assert changed == now.keys() - first.keys()
    assert all(now[key] == first[key] for key in now.keys() & first.keys())


def test_a_rollback_to_what_the_files_are_publishes_nothing(world, night):
    from transforms.storage.registry import open_store

    page = world.put("page.md", PAGE)
    night()
    facts = page.stat()
    world.put("page.md", PAGE.replace("inwards", "outwards"))
    night()
    rollback(open_store(str(world.table)))
    world.put("page.md", PAGE)
    os.utime(page, ns=(facts.st_mtime_ns, facts.st_mtime_ns))
    outcome = night()
    assert (outcome.status, outcome.snapshot) == ("unchanged", 1)
