"""What is said of a run while it works, and from what it is read."""

import dataclasses
import json
import time
from contextlib import suppress

import pytest

from pipeline import progress as shown
from pipeline.commands import status
from pipeline.config import JobConfig
from pipeline.job import make_job
from transforms.model.objects import ObjectInfo, RecordRange
from transforms.model.shard import Rejection, ShardPlan, ShardReceipt
from transforms.planning.plan import SourcePlan
from transforms.stages.about import about, keep_about
from transforms.stages.done import keep_receipt
from transforms.stages.outcome import Outcome, keep_outcome
from transforms.stages.plans import keep_plan
from transforms.stages.progress import Progress, Rejected, Watch
from transforms.storage.registry import open_store
from transforms.table.layout import done_path
from transforms.table.lease import Lease


@pytest.fixture
def job(tmp_path):
    sources = [{"name": name, "root": str(tmp_path / name)} for name in ("docs", "notes")]
    raw = {"table": str(tmp_path / "table"), "embedder": {"kind": "hash"}, "sources": sources}
    return make_job(JobConfig.model_validate(raw), "run", 1, None)


def watch_of(job, price=None):
    return Watch(open_store(job.table), about(job, price))


def plan(source, *shards):
    plans = tuple(ShardPlan(source, shard, f"inputs of {shard}") for shard in shards)
    return SourcePlan(source, plans, (), (), 0, 0, 0, 0, 0, 0)


def receipt(source, shard, **counts):
    return ShardReceipt(source, shard, f"inputs of {shard}", **counts)


def test_nothing_is_promised_until_all_sources_are_compared(job):
    watch = watch_of(job)
    assert watch.look() == Progress()
    keep_plan(plan("docs", "a", "b"), job)
    assert watch.look().planned is None
    keep_plan(plan("notes", "c"), job)
    assert watch.look().planned == 3


def test_what_is_done_is_counted_from_the_done_records(job):
    watch = watch_of(job)
    for one in (plan("docs", "a", "b"), plan("notes", "c")):
        keep_plan(one, job)
    keep_receipt(receipt("docs", "a", documents=2, chunks=9), job)
    assert watch.look() == Progress(planned=3, done=1, documents=2, chunks=9, reused=9)
    keep_receipt(receipt("notes", "c", documents=1, chunks=1), job)
    assert watch.look() == Progress(planned=3, done=2, documents=3, chunks=10, reused=10)


def test_what_an_interrupted_run_has_left_counts_only_if_it_is_used_again(job):
    dead = dataclasses.replace(job, run_id="dead")
    keep_plan(plan("docs", "a", "b"), dead)
    keep_plan(plan("notes"), dead)
    keep_receipt(receipt("docs", "a", documents=2, chunks=9), job)
    keep_receipt(dataclasses.replace(receipt("docs", "b", documents=5), inputs="other inputs"), job)
    watch = watch_of(job)
    assert watch.look() == Progress()
    keep_plan(plan("docs", "a", "b"), job)
    keep_plan(plan("notes"), job)
    assert watch.look() == Progress(planned=2, done=1, documents=2, chunks=9, reused=9)
    keep_receipt(receipt("docs", "b", documents=1, chunks=1), job)
    assert watch.look() == Progress(planned=2, done=2, documents=3, chunks=10, reused=10)


def test_a_record_that_cannot_be_read_yet_is_left_to_the_next_look(job):
    watch = watch_of(job)
    for one in (plan("docs", "a"), plan("notes")):
        keep_plan(one, job)
    path = done_path(1, "docs", "a")
    open_store(job.table).write(path, b'{"inputs": "half a rec')
    assert watch.look() == Progress(planned=1)
    keep_receipt(receipt("docs", "a", documents=1), job)
    assert watch.look().done == 1


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (None, "starting"),
        (Progress(), "listing and comparing the sources"),
        (Progress(planned=0), "nothing to read; publishing"),
        (
            Progress(12, 1500, 1, 1, 0, 2),
            "1 of 12 shards (1,500 objects) done: 1 document, 0 chunks, 2 rejected",
        ),
        (Progress(1, 1, 1, 2, 7), "1 of 1 shard (1 object) done: 2 documents, 7 chunks; publishing"),
        (
            Progress(9, 9, 3, 20, 70, 0, 60, 10, 8000, 1.234),
            "3 of 9 shards (9 objects) done: 20 documents, 70 chunks, 60 embedded (8,000 tokens, $1.23), 10 reused",
        ),
    ],
)
def test_progress_is_said_in_words(progress, words):
    assert shown.said(progress) == words


def test_where_no_terminal_is_a_plain_line_comes_now_and_then(job, capsys, monkeypatch):
    monkeypatch.setattr(shown, "EVERY", 0.01)
    with shown.progress_shown(quiet=False) as watch:
        watch(watch_of(job))
        for one in (plan("docs", "a"), plan("notes")):
            keep_plan(one, job)
        lines = ""
        while "0 of 1 shard (0 objects) done" not in lines:
            time.sleep(0.01)
            lines += capsys.readouterr().err
    assert "parquetry: 0:00:00: listing and comparing the sources\n" in lines or "0 of 1 shard" in lines
    assert "\x1b" not in lines


def test_a_quiet_run_shows_nothing(job, capsys, monkeypatch):
    monkeypatch.setattr(shown, "EVERY", 0.001)
    with shown.progress_shown(quiet=True) as watch:
        watch(watch_of(job))
    assert capsys.readouterr() == ("", "")


def test_what_was_embedded_has_its_price_and_rejections_are_told_once(job):
    watch = watch_of(job, price=20.0)
    keep_plan(plan("docs", "a", "b"), job)
    keep_plan(plan("notes"), job)
    bad = Rejection("docs", "x.pdf", "x.pdf", "/x.pdf", "extract", "pdf_corrupt", "No.", 1, "1", "r")
    keep_receipt(
        receipt("docs", "a", documents=2, chunks=9, embedded=4, embedded_tokens=500, rejected=(bad,)), job
    )
    found = watch.look()
    assert (found.embedded, found.reused, found.tokens, found.cost) == (4, 5, 500, 0.01)
    assert watch.rejections() == [Rejected("docs/x.pdf", "pdf_corrupt", "No.")]
    assert watch.rejections() == []


def test_the_rate_says_how_long_it_will_take_yet():
    half = Progress(planned=4, done=1, documents=50)
    assert shown.rate(half, 10) == "; 5.0 documents/s; about 0:00:30 left"
    assert shown.rate(Progress(planned=4, done=4, documents=50), 10) == "; 5.0 documents/s"
    assert shown.rate(Progress(planned=4), 10) == ""
    assert shown.rate(None, 10) == ""


def test_records_for_machines_are_json_with_rejections_of_their_own(job, capsys, monkeypatch):
    monkeypatch.setattr(shown, "EVERY", 0.01)
    keep_plan(plan("docs", "a"), job)
    keep_plan(plan("notes"), job)
    bad = Rejection("docs", "x.pdf", "x.pdf", "/x.pdf", "extract", "pdf_corrupt", "No.", 1, "1", "r")
    keep_receipt(receipt("docs", "a", documents=1, rejected=(bad,)), job)
    lines: list[str] = []
    with shown.progress_shown(quiet=True, records=True) as watch:
        watch(watch_of(job))
        while len(lines) < 3:
            time.sleep(0.01)
            lines += capsys.readouterr().err.splitlines()
    records = [json.loads(line) for line in lines]
    assert {
        "event": "rejected",
        "document": "docs/x.pdf",
        "reason": "pdf_corrupt",
        "detail": "No.",
    } in records
    assert next(one["documents"] for one in records if one["event"] == "progress" and one["done"]) == 1


def test_the_state_of_a_run_is_told_from_outside(job, capsys, tmp_path):
    store = open_store(job.table)
    with suppress(KeyboardInterrupt), Lease(store, job.snapshot, job.run_id):
        keep_about(about(job), job.table)
        keep_plan(plan("docs", "a", "b"), job)
        keep_plan(plan("notes"), job)
        keep_receipt(receipt("docs", "a", documents=2, chunks=9), job)
        status.run(job.table, follow=False, as_json=False)
        said = capsys.readouterr().out
        assert f"Snapshot 1 of {job.table} is being built by run on " in said
        assert "1 of 2 shards (0 objects) done: 2 documents, 9 chunks, 9 reused" in said
        status.run(job.table, follow=False, as_json=True)
        record = json.loads(capsys.readouterr().out)
        assert (record["at_work"], record["progress"]["planned"], record["claim"]["run_id"]) == (
            True,
            2,
            "run",
        )
        raise KeyboardInterrupt
    status.run(job.table, follow=False, as_json=False)
    said = capsys.readouterr().out
    assert "No run is at work." in said
    assert "Snapshot 1 was not finished by run on" in said


def test_how_the_last_run_ended_is_told_where_none_is_at_work(job, capsys):
    keep_outcome(Outcome(job.run_id, "unchanged", job.table, 3), job)
    status.run(job.table, follow=True, as_json=False)
    said = capsys.readouterr().out
    assert "The last run that came to its end was run:" in said
    assert "Nothing new: 0 texts embedded, no snapshot published. Snapshot 3 stays the newest.\n" in said


def test_the_ranges_of_an_object_are_one_object(job):
    ranges = [RecordRange(((at, at + 9),), at, "sum") for at in (0, 9, 18)]
    plans = tuple(
        ShardPlan("docs", str(number), "", reads=(ObjectInfo("x.jsonl", 27, "1", records=one),))
        for number, one in enumerate(ranges)
    )
    keep_plan(SourcePlan("docs", plans, (), (), 1, 1, 0, 0, 0, 27), job)
    keep_plan(plan("notes"), job)
    assert watch_of(job).look().objects == 1
