"""Objects and records that are called alike stay apart, whatever their names hold."""

import io
import zipfile
from collections import Counter

import pyarrow.parquet as pq
import pytest


@pytest.fixture
def night(world):
    """A run that costs little, of a folder that is empty at first."""
    for path in world.corpus.rglob("*.*"):
        path.unlink()
    return lambda: world.run(embedder={"kind": "hash", "dimension": 4})


def zip_of(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def documents(world):
    return {row["doc_id"]: (row["object_name"], row["text"]) for row in world.rows("documents")}


def test_a_member_and_a_file_of_its_name_are_two_documents_night_after_night(world, night):
    world.put("z.zip", zip_of({"a.txt": "The same words.\n"}))
    world.put("z.zip#a.txt", "The same words.\n")
    night()
    assert documents(world) == {
        "z.zip#a.txt": ("z.zip", "The same words.\n"),
        "z.zip%23a.txt": ("z.zip#a.txt", "The same words.\n"),
    }
    world.put("z.zip#a.txt", "Other words.\n")
    outcome = night()
    assert [(row["doc_id"], row["text"]) for row in world.rows()] == [
        ("z.zip#a.txt", "The same words.\n"),
        ("z.zip%23a.txt", "Other words.\n"),
    ]
    assert (outcome.counts["chunks"], outcome.counts["deleted"]) == (2, 1)


def test_records_members_and_members_of_members_never_share_an_id(world, night):
    world.settings = {"extract": {"records": {"id": "id", "text": ["t"]}}}
    inner = zip_of({"b.txt": "Inside.\n", "c#d.txt": "Inside, too.\n"})
    world.put("r.jsonl", '{"id": "x.md", "t": "One."}\n{"id": "p#q", "t": "Two."}\n')
    world.put("r.jsonl#x.md", "Three.\n")
    world.put(
        "z.zip", zip_of({"in.zip": inner, "in.zip/b.txt": "Beside.\n", "in.zip#b.txt": "Beside, too.\n"})
    )
    night()
    assert Counter(row["doc_id"] for row in world.rows("documents")) == {
        "r.jsonl#x.md": 1,
        "r.jsonl#p%23q": 1,
        "r.jsonl%23x.md": 1,
        "z.zip#in.zip#b.txt": 1,
        "z.zip#in.zip#c%23d.txt": 1,
        "z.zip#in.zip/b.txt": 1,
        "z.zip#in.zip%23b.txt": 1,
    }
    chunk_ids = [row["chunk_id"] for row in world.rows()]
    assert len(set(chunk_ids)) == len(chunk_ids) == 7


def test_the_row_of_a_rejected_file_has_the_id_of_its_document(world, night):
    world.put("a#b.md", "# Title\n\nText.\n")
    world.put("c.md", "Beside it.\n")
    night()
    world.put("a#b.md", b"")
    night()
    row = world.rows("documents")[0]
    assert (row["doc_id"], row["status"]) == ("a%23b.md", "stale")
    (rejected,) = pq.read_table(world.snapshot(2) / "rejected.parquet").to_pylist()
    assert (rejected["doc_id"], rejected["object_name"]) == ("a%23b.md", "a#b.md")


def test_a_title_taken_from_a_name_is_not_escaped(world, night):
    world.put("C# guide.txt", "How to begin.\n")
    night()
    assert [row["doc_title"] for row in world.rows()] == ["C# guide"]
