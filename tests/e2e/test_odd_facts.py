"""What files state of themselves, and what becomes of them while they are read: one file ends no run."""

import json

import pytest

from transforms.storage.local import LocalStore

TITLE = '---\ntitle: "a\\ud800 b"\nwhen: 2024-02-30\n---\n# Pumps\n'
RECORDS = {"id": "i", "title": "h", "text": ["t"], "metadata": ["m"]}


def test_titles_ids_and_metadata_of_any_kind_are_rows(world):
    world.settings = {"extract": {"records": RECORDS}}
    world.put("a.md", TITLE)
    world.put("b.jsonl", rb'{"i": "x\ud800", "t": "one", "m": {"n": 1e400, "k\u0000": "v\udfff"}}')
    world.run()
    rows = {row["doc_id"]: row for row in world.rows()}
    assert rows["a.md"]["doc_title"] == "a\ufffd b"
    assert json.loads(rows["a.md"]["metadata"]) == {"when": "2024-02-30"}
    assert json.loads(rows["b.jsonl#x\ufffd"]["metadata"]) == {"m": {"n": "1e400", "k": "v\ufffd"}}
    assert set(rows) == {"a.md", "b.jsonl#x\ufffd", "about.md", "notes/radio.txt"}


@pytest.mark.parametrize(
    "change", [lambda path: path.unlink(), lambda path: path.write_text("other words")]
)
def test_what_is_gone_or_another_by_the_time_it_is_read_is_left_to_the_next_run(world, monkeypatch, change):
    world.run()
    path = world.put("about.md", "An edit.\n")
    real = LocalStore.read

    def late(store, name, token=None, limit=None):
        if name == "about.md" and path.exists() and path.read_text() == "An edit.\n":
            change(path)
        return real(store, name, token, limit)

    monkeypatch.setattr(LocalStore, "read", late)
    before = [row["text"] for row in world.rows() if row["doc_id"] == "about.md"]
    assert world.run().reasons == {"changed_while_reading": 1}
    assert [row["text"] for row in world.rows() if row["doc_id"] == "about.md"] == before
    assert world.run().reasons == {}
    texts = [row["text"] for row in world.rows() if row["doc_id"] == "about.md"]
    assert texts == (["other words"] if path.exists() else [])
