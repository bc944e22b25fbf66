"""How much may go, and how much may be rejected, is counted in documents; what a refused run has done is kept."""

import json

import pytest

from pipeline.run import run_job
from transforms.model.errors import GuardError

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(64)


@pytest.fixture
def night(world):
    """A run with the limits that a configuration has where it says nothing, of a folder that is empty at first."""
    for path in world.corpus.rglob("*.*"):
        path.unlink()

    def run(*, allow_deletes=False, **limits):
        config = world.config(embedder={"kind": "hash", "dimension": 4}, limits=limits)
        return run_job(config, allow_deletes=allow_deletes)

    return run


def put(world, count, text="Text of page", ending="md"):
    for n in range(count):
        world.put(f"{n:02}.{ending}", text if isinstance(text, bytes) else f"{text} {n}.\n")


def lines(count):
    return "".join(json.dumps({"text": f"Record {n}."}) + "\n" for n in range(count))


def test_records_that_are_gone_are_counted_and_not_their_file(world, night):
    world.put("a.jsonl", lines(200))
    night()
    world.put("a.jsonl", lines(1))
    with pytest.raises(
        GuardError, match=r"`docs`: 199 of 200 documents are gone, more than limits\.max_deleted_share"
    ):
        night()
    assert world.latest() == 1
    assert night(allow_deletes=True).counts["documents"] == 1


def test_a_file_among_many_may_lose_most_of_its_records(world, night):
    world.put("a.jsonl", lines(20))
    put(world, 40)
    night()
    world.put("a.jsonl", lines(2))
    assert night().counts["documents"] == 42


@pytest.mark.parametrize("count", [1, 10])
def test_all_of_a_source_never_goes_unasked_however_small_it_is(world, night, count):
    put(world, count)
    night()
    for path in world.corpus.rglob("*.md"):
        path.unlink()
    with pytest.raises(GuardError, match=f"`docs`: all of its {count} objects are gone"):
        night()
    outcome = night(allow_deletes=True)
    assert (outcome.counts["documents"], outcome.counts["deleted"]) == (0, count)


def test_a_source_of_one_file_may_be_renamed(world, night):
    world.put("a.md", "# Pumps\n\nThe vent valve stays open.\n")
    night()
    (world.corpus / "a.md").rename(world.corpus / "b.md")
    assert night().status == "published"
    assert [row["doc_id"] for row in world.rows("documents")] == ["b.md"]


def test_a_small_source_that_left_the_configuration_is_named(world, night):
    world.put("pages/a.md", "Text.\n")
    world.put("notes/a.md", "A note.\n")
    entries = [{"name": name, "root": str(world.corpus / name)} for name in ("pages", "notes")]
    run_job(world.config(embedder={"kind": "hash", "dimension": 4}, sources=entries))
    with pytest.raises(GuardError, match="`notes` is not configured any more; its 1 documents would go"):
        run_job(world.config(embedder={"kind": "hash", "dimension": 4}, sources=entries[:1]))


def test_a_folder_with_pictures_is_published_on_its_first_run(world, night):
    put(world, 4)
    put(world, 16, PICTURE, "png")
    outcome = night()
    assert (outcome.status, outcome.counts["documents"], outcome.reasons) == (
        "published",
        4,
        {"unsupported_type": 16},
    )


def test_documents_that_turned_into_something_unreadable_are_counted(world, night):
    put(world, 10)
    night()
    for n in range(5):
        world.put(f"{n:02}.md", b"\x7fELF\x02\x01\x01\0" + bytes(64))
    outcome = night()
    assert (outcome.status, outcome.reasons) == ("too_many_rejected", {"unsupported_type": 5})
    assert "5 of 10 documents were rejected" in outcome.refusal


@pytest.mark.parametrize(
    ("emptied", "status"), [(8, "too_many_rejected"), (7, "too_many_rejected"), (6, "published")]
)
def test_a_document_whose_rows_stay_is_counted_once(world, night, emptied, status):
    put(world, 20)
    night()
    for n in range(emptied):
        world.put(f"{n:02}.md", b"")
    outcome = night(max_rejected_share=0.3)
    assert outcome.status == status
    assert outcome.counts["rejected"] == emptied
    if status == "too_many_rejected":
        assert f"{emptied} of 20 documents were rejected" in outcome.refusal


def test_an_archive_that_broke_is_one_of_the_documents_it_held(world, night):
    world.put("a.jsonl", lines(20))
    put(world, 5)
    night()
    world.put("a.jsonl", b"")
    put(world, 4, b"")
    # The archive and four pages of 25 documents.
    assert "5 of 25 documents" in night(max_rejected_share=0.19).refusal
    assert night(max_rejected_share=0.2).status == "published"


def test_what_a_refused_run_has_done_is_not_done_again(world, night):
    put(world, 6)
    put(world, 4, b"", "txt")
    outcome = night()
    assert (outcome.status, "4 of 10 documents were rejected" in outcome.refusal) == (
        "too_many_rejected",
        True,
    )
    files = [
        *world.snapshot(1).rglob("_done/*/*.json"),
        *world.snapshot(1).rglob("*/source=docs/*.parquet"),
    ]
    before = {path: path.stat().st_mtime_ns for path in files}
    assert len(before) == 3
    assert night(max_rejected_share=0.4).status == "published"
    assert {path: path.stat().st_mtime_ns for path in before} == before
