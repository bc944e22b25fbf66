"""What files state of themselves, and what no column can hold: one file's facts end no run."""

import json

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
