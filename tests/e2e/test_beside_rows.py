"""What a snapshot has beside its rows is kept right in any night, and no row is made anew for it."""

from __future__ import annotations

import json

import pytest

from pipeline.commands import plan
from pipeline.run import run_job
from pipeline.scope import Words
from pipeline.search import search
from transforms.model.errors import GuardError, TableError
from transforms.model.fusion import DEFAULT, Fusion
from transforms.storage.registry import open_store
from transforms.table.history import rollback
from transforms.table.reader import Snapshot
from transforms.table.terms import count_terms, read_terms

OWN = {"fusion": "rrf", "weight": 0.2}


def night(world, **keys):
    return run_job(world.config(**keys))


def newest(world):
    return Snapshot.newest(open_store(str(world.table)))


def files_of(world, number):
    """Each file of rows with its inode: a link is the same file on the disk."""
    folder = world.snapshot(number)
    kinds = [path for kind in ("chunks", "documents") for path in folder.glob(f"{kind}/**/*.parquet")]
    return {str(path.relative_to(folder)): path.stat().st_ino for path in kinds}


def test_another_way_to_search_is_published_over_the_very_same_files(world):
    night(world)
    assert newest(world).manifest.search == DEFAULT
    assert {hit.fusion for hit in search(str(world.table), "pump")} == {DEFAULT}
    outcome = night(world, search=OWN)
    assert (outcome.status, outcome.snapshot) == ("published", 2)
    assert (outcome.counts["embedded"], outcome.embedded_tokens) == (0, 0)
    assert outcome.work == {"opened": 0, "extracted": 0, "chunked": 0}
    assert files_of(world, 2) == files_of(world, 1)
    assert outcome.notices == (
        "Searches by vectors and words go by reciprocal ranks, 0.20 sparse, where they went by sum, 0.40 sparse "
        "(`search` in the configuration); no row is made anew for it.",
    )
    assert {hit.fusion for hit in search(str(world.table), "pump")} == {Fusion("rrf", 0.2)}
    assert night(world, search=OWN).status == "unchanged"


def test_a_plan_says_what_is_due_though_no_object_has_changed(world, tmp_path, capsys):
    night(world)
    job = tmp_path / "job.yaml"
    raw = world.config(search=OWN).model_dump(mode="json", include={"table", "search"})
    raw |= {"embedder": {"kind": "static"}, "sources": [{"name": "docs", "root": str(world.corpus)}]}
    job.write_text(json.dumps(raw))
    assert plan.run(job, Words(), as_json=False) == 0
    shown = capsys.readouterr().out
    assert (
        "Searches by vectors and words go by reciprocal ranks, 0.20 sparse, where they went by sum" in shown
    )
    assert "A snapshot with the same rows is due." in shown
    night(world, search=OWN)
    plan.run(job, Words(), as_json=False)
    assert "There is nothing to do." in capsys.readouterr().out


def test_an_option_goes_before_what_the_table_says_and_only_where_it_is_given(world):
    night(world, search=OWN)
    found = [
        search(str(world.table), "pump", 1, **options)[0].fusion
        for options in (
            {},
            {"weight": 0.0},
            {"fusion": "sum"},
            {"fusion": "sum", "weight": 1.0},
            {"by": "dense"},
        )
    ]
    assert found == [Fusion("rrf", 0.2), Fusion("rrf", 0.0), Fusion("sum", 0.2), Fusion("sum", 1.0), None]


def test_a_table_without_sparse_vectors_needs_no_snapshot_for_the_way_it_would_join_them(world):
    none = {"kind": "none"}
    night(world, sparse=none)
    assert night(world, sparse=none, search=OWN).status == "unchanged"
    night(world, search=OWN)
    assert newest(world).manifest.search == Fusion("rrf", 0.2)


def test_a_rollback_brings_the_way_of_its_snapshot_until_the_next_run(world):
    night(world)
    night(world, search=OWN)
    rollback(open_store(str(world.table)), 1)
    assert newest(world).manifest.search == DEFAULT
    assert night(world, search=OWN).status == "published"
    assert newest(world).manifest.search == Fusion("rrf", 0.2)


def test_the_gate_asks_as_the_new_snapshot_will_be_searched(world, tmp_path):
    questions = tmp_path / "questions.jsonl"
    # Of its words the notes have more, and its meaning is that of the other file.
    questions.write_text('{"question": "about which pump?", "documents": ["docs/about.md"]}\n')
    gate = {"questions": str(questions), "mrr": 1.0}
    assert night(world, gate=gate, search={"weight": 0.0}).status == "published"
    with pytest.raises(GuardError, match=r"under gate\.mrr"):
        night(world, gate=gate, search={"weight": 1.0})
    assert newest(world).manifest.search == Fusion("sum", 0.0)


@pytest.mark.parametrize("harm", ["missing", "damaged"])
def test_frequencies_that_are_lost_are_counted_anew_in_a_night_without_changes(world, harm):
    night(world)
    path = world.snapshot(1) / "terms.parquet"
    if harm == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-9] + b"x" * 9)
    said = rf"terms\.parquet is {harm}.*\. The next run of the job counts it anew, whatever else it has to do\."
    with pytest.raises(TableError, match=said):
        read_terms(newest(world))
    with pytest.raises(TableError, match=said):
        search(str(world.table), "pump", by="sparse")
    outcome = night(world)
    assert outcome.status == "published"
    assert outcome.counts["embedded"] == 0
    assert len(outcome.notices) == 1
    assert f"terms.parquet is {harm}" in outcome.notices[0]
    assert outcome.notices[0].endswith("; it is counted anew from the chunks.")
    assert files_of(world, 2) == files_of(world, 1)
    snapshot = newest(world)
    kept, counted = read_terms(snapshot), count_terms(snapshot.store, snapshot.manifest)
    assert (kept.chunks, kept.ids.tolist()) == (counted.chunks, counted.ids.tolist())
    assert search(str(world.table), "pump", by="sparse")
    assert night(world).status == "unchanged"
