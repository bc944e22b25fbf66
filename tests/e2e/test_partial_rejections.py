"""A part of an object that cannot be read is a row of its own; the other parts go on, night after night."""

import io
import os
import zipfile

import pyarrow.parquet as pq

from pipeline.commands import run as command
from transforms.extractors import registry


def rejected(world):
    rows = pq.read_table(world.snapshot(world.latest()) / "rejected.parquet").to_pylist()
    return {row["doc_id"]: (row["object_name"], row["stage"], row["reason"]) for row in rows}


def statuses(world):
    return {row["doc_id"]: row["status"] for row in world.rows("documents")}


def zip_of(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.txt", content)
    return buffer.getvalue()


def test_a_broken_line_is_a_row_and_the_good_ones_are_documents(world):
    world.put("log.jsonl", '{"a": "one"}\n{"a": "tw\n{"a": "three"}\n')
    outcome = world.run()
    assert {name for name in statuses(world) if name.startswith("log")} == {"log.jsonl#1", "log.jsonl#3"}
    assert rejected(world) == {"log.jsonl#2": ("log.jsonl", "extract", "corrupt")}
    assert (outcome.counts["documents"], outcome.counts["rejected"], outcome.reasons) == (
        4,
        1,
        {"corrupt": 1},
    )


def test_a_rejected_part_is_not_tried_again_and_stays_in_the_table(world):
    world.put("log.jsonl", '{"a": "one"}\n{"a": "tw\n{"b\n')
    world.run()
    assert world.run().status == "unchanged"
    world.put("about.md", "# Pumps\n\nNew words.\n")
    outcome = world.run()
    assert outcome.status == "published"
    assert list(rejected(world)) == ["log.jsonl#2", "log.jsonl#3"]
    assert outcome.counts["rejected"] == 2


def test_the_last_good_rows_of_a_part_stay_until_it_can_be_read_again(world):
    world.put("a.zip", zip_of(x="First.", y="Second."))
    world.run()
    world.put("a.zip", zip_of(x="First, changed.", y=b"\x7fELF\0\0"))
    world.run()
    assert statuses(world)["a.zip#y.txt"] == "stale"
    assert statuses(world)["a.zip#x.txt"] == "ok"
    assert {row["text"] for row in world.rows() if row["doc_id"].startswith("a.zip")} == {
        "First, changed.",
        "Second.",
    }
    assert rejected(world) == {"a.zip#y.txt": ("a.zip", "extract", "unsupported_type")}
    world.put("a.zip", zip_of(x="First, changed.", y="Third."))
    world.run()
    assert statuses(world)["a.zip#y.txt"] == "ok"
    assert rejected(world) == {}


def test_a_part_that_is_gone_from_its_object_leaves_the_table(world):
    world.put("a.zip", zip_of(x="First.", y="Second."))
    world.run()
    world.put("a.zip", zip_of(x="First."))
    world.run()
    assert "a.zip#y.txt" not in statuses(world)


def test_a_record_whose_broken_line_hides_its_id_keeps_its_last_rows(world):
    world.settings = {"extract": {"records": {"id": "id", "text": ["t"]}}}
    world.put("log.jsonl", '{"id": "p", "t": "one"}\n{"id": "q", "t": "two"}\n')
    world.run()
    world.put("log.jsonl", '{"id": "p", "t": "one"}\n{"id": "q", "t": \n')
    world.run()
    assert statuses(world)["log.jsonl#q"] == "stale"
    assert rejected(world) == {"log.jsonl#line 2": ("log.jsonl", "extract", "corrupt")}


def test_a_touched_object_keeps_the_rows_of_its_rejected_parts(world):
    world.put("log.jsonl", '{"a": "one"}\n{"a": "tw\n')
    world.run()
    before = rejected(world)
    os.utime(world.corpus / "log.jsonl", ns=(1, 1))
    outcome = world.run()
    assert outcome.counts["embedded"] == 0
    assert rejected(world) == before


def test_pictures_in_an_archive_do_not_stop_the_run(world):
    names = [f"p{number}" for number in range(20)]
    world.put("a.zip", zip_of(x="First.", **dict.fromkeys(names, b"\x89PNG\r\n\x1a\n")))
    outcome = world.run(limits={"max_rejected_share": 0.2})
    assert (outcome.status, outcome.counts["rejected"]) == ("published", 20)


def test_an_object_of_more_bytes_than_the_limit_is_not_read(world):
    world.put("long.txt", "x" * 101)
    world.run(limits={"max_rejected_share": 0.9, "max_object_bytes": 100})
    assert rejected(world)["long.txt"] == ("long.txt", "read", "too_large")


def test_a_fault_of_the_program_is_a_row_and_the_summary_says_so(world, monkeypatch, capsys):
    def broken(data, settings):
        raise KeyError("styles")

    monkeypatch.setitem(registry._EXTRACTORS, "text/markdown", broken)
    outcome = world.run()
    assert outcome.reasons == {"extractor_bug": 1}
    assert rejected(world) == {"about.md": ("about.md", "extract", "extractor_bug")}
    assert statuses(world) == {"notes/radio.txt": "ok"}
    command.show(outcome, 1.0)
    assert "1 of them met a fault of this program, not of the file" in capsys.readouterr().out
