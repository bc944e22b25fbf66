"""Whoever is told to mend rejected documents can see which they are, published or not."""

import itertools
import json
import time
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from pipeline.commands import rejected
from pipeline.run import run_job

CHEAP = {"kind": "hash", "dimension": 4}


@pytest.fixture
def night(world, monkeypatch):
    # Runs are told apart by their second, and these take less.
    seconds = itertools.count()
    clock = SimpleNamespace(gmtime=time.gmtime, strftime=lambda *_: f"20261130T0000{next(seconds):02}Z")
    monkeypatch.setattr("pipeline.run.time", clock)

    def run(share=0.2):
        return run_job(world.config(embedder=CHEAP, limits={"max_rejected_share": share}))

    return run


def shown(capsys, world):
    assert rejected.run(str(world.table), as_json=False) == 0
    return capsys.readouterr().out.splitlines()


def test_a_run_that_publishes_nothing_names_all_that_it_rejected(night, world, capsys):
    for n in range(3):
        world.put(f"bad/{n}.json", "{broken")
    outcome = night()
    assert (outcome.status, outcome.counts["rejected"]) == ("too_many_rejected", 3)
    assert outcome.rejected_list == f"{world.table}/runs/{outcome.run_id}.rejected.parquet"
    names = pq.read_table(outcome.rejected_list)["object_name"].to_pylist()
    assert names == ["bad/0.json", "bad/1.json", "bad/2.json"]
    head, *lines = shown(capsys, world)
    assert head == f"The last run of {world.table} published nothing and rejected 3 documents:"
    assert [line.partition(": The")[0] for line in lines] == [
        f"docs/bad/{n}.json: corrupt" for n in range(3)
    ]


def test_after_a_run_that_published_its_own_list_counts_again(night, world, capsys):
    world.put("bad.json", "{broken")
    assert night().status == "too_many_rejected"
    outcome = night(share=0.9)
    assert (outcome.status, outcome.rejected_list) == ("published", f"{world.snapshot(1)}/rejected.parquet")
    assert shown(capsys, world)[0] == f"Snapshot 1 of {world.table} rejected 1 document:"
    (world.corpus / "bad.json").unlink()
    assert night().rejected_list == ""
    assert shown(capsys, world) == [f"Snapshot 2 of {world.table} rejected no document."]


def test_the_list_as_json_has_the_columns_of_the_table(night, world, capsys):
    world.put("bad.json", "{broken")
    night()
    rejected.run(str(world.table), as_json=True)
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["source_name"], row["doc_id"], row["stage"], row["reason"]) == (
        "docs",
        "bad.json",
        "extract",
        "corrupt",
    )


def test_repeated_texts_are_no_reused_vectors(world):
    """Of three equal chunks of a first run one is embedded; in the next run all three are there already."""
    for path in world.corpus.rglob("*.*"):
        path.unlink()
    for n in range(3):
        world.put(f"{n}/same.md", "# Same\n\nThe very same text.\n")
    config = world.config(embedder=CHEAP)
    counts = run_job(config).counts
    assert [counts[name] for name in ("chunks", "embedded", "repeated", "reused")] == [3, 1, 2, 0]
    world.put("other.md", "# Other\n\nAnother text.\n")
    counts = run_job(config).counts
    assert [counts[name] for name in ("chunks", "embedded", "repeated", "reused")] == [4, 1, 0, 3]
    (world.corpus / "other.md").rename(world.corpus / "renamed.md")
    counts = run_job(config).counts
    assert [counts[name] for name in ("chunks", "embedded", "repeated", "reused")] == [4, 0, 0, 4]
