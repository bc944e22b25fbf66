"""What is said of a run while it works, and from what it is read."""

import dataclasses
import time

import pytest

from pipeline import progress as shown
from pipeline.config import JobConfig
from pipeline.job import make_job
from transforms.model.shard import ShardPlan, ShardReceipt
from transforms.planning.plan import SourcePlan
from transforms.stages.done import keep_receipt
from transforms.stages.plans import keep_plan
from transforms.stages.progress import Progress, Watch
from transforms.storage.registry import open_store
from transforms.table.layout import done_path


@pytest.fixture
def job(tmp_path):
    sources = [{"name": name, "root": str(tmp_path / name)} for name in ("docs", "notes")]
    raw = {"table": str(tmp_path / "table"), "embedder": {"kind": "hash"}, "sources": sources}
    return make_job(JobConfig.model_validate(raw), "run", 1, None)


def plan(source, *shards):
    plans = tuple(ShardPlan(source, shard, f"inputs of {shard}") for shard in shards)
    return SourcePlan(source, plans, (), (), 0, 0, 0, 0, 0, 0)


def receipt(source, shard, **counts):
    return ShardReceipt(source, shard, f"inputs of {shard}", **counts)


def test_nothing_is_promised_until_all_sources_are_compared(job):
    watch = Watch(job)
    assert watch.look() == Progress()
    keep_plan(plan("docs", "a", "b"), job)
    assert watch.look().planned is None
    keep_plan(plan("notes", "c"), job)
    assert watch.look().planned == 3


def test_what_is_done_is_counted_from_the_done_records(job):
    watch = Watch(job)
    for one in (plan("docs", "a", "b"), plan("notes", "c")):
        keep_plan(one, job)
    keep_receipt(receipt("docs", "a", documents=2, chunks=9), job)
    assert watch.look() == Progress(planned=3, done=1, documents=2, chunks=9)
    keep_receipt(receipt("notes", "c", documents=1, chunks=1), job)
    assert watch.look() == Progress(planned=3, done=2, documents=3, chunks=10)


def test_what_an_interrupted_run_has_left_counts_only_if_it_is_used_again(job):
    keep_plan(plan("docs", "a", "b"), job)
    keep_plan(plan("notes"), job)
    keep_receipt(receipt("docs", "a", documents=2, chunks=9), job)
    keep_receipt(dataclasses.replace(receipt("docs", "b", documents=5), inputs="other inputs"), job)
    watch = Watch(job)
    assert watch.look() == Progress()
    keep_plan(plan("docs", "a", "b"), job)
    keep_plan(plan("notes"), job)
    assert watch.look() == Progress(planned=2, done=1, documents=2, chunks=9)
    keep_receipt(receipt("docs", "b", documents=1, chunks=1), job)
    assert watch.look() == Progress(planned=2, done=2, documents=3, chunks=10)


def test_a_record_that_cannot_be_read_yet_is_left_to_the_next_look(job):
    watch = Watch(job)
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
    ],
)
def test_progress_is_said_in_words(progress, words):
    assert shown.said(progress) == words


def test_where_no_terminal_is_a_plain_line_comes_now_and_then(job, capsys, monkeypatch):
    monkeypatch.setattr(shown, "EVERY", 0.01)
    with shown.progress_shown(quiet=False) as watch:
        watch(job)
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
        watch(job)
    assert capsys.readouterr() == ("", "")
