"""What the commands on a table's history print, for people and for programs."""

import datetime
import json

import pytest

from pipeline.commands import diff, rollback, show, snapshots, vacuum
from transforms.model.errors import ConfigError
from transforms.table.lease import Lease
from transforms.table.pointer import read_pointer
from transforms.table.publish import publish


@pytest.fixture
def table(store, write_shard, draft):
    """Two snapshots: b went and d came."""
    publish(store, draft(1, new=write_shard(store, 1, "s1", ["a", "b"])))
    publish(
        store, draft(2, parent=1, new=write_shard(store, 2, "s1", ["a", "d"]), deleted={"docs": ("b-0",)})
    )
    return store


def printed(capsys, code):
    assert code == 0
    return capsys.readouterr().out


def test_snapshots_are_listed_with_what_they_were_made_from(table, capsys):
    lines = printed(capsys, snapshots.run(table.root, as_json=False)).splitlines()
    assert len(lines) == 4
    assert lines[1].split()[0] == "1"
    assert lines[2].split()[:2] == ["2", "1"]
    assert lines[3] == "Readers see snapshot 2."


def test_snapshots_as_json_have_their_counts(table, capsys):
    found = json.loads(printed(capsys, snapshots.run(table.root, as_json=True)))
    assert [(one["snapshot"], one["parent"], one["newest"]) for one in found["snapshots"]] == [
        (1, None, False),
        (2, 1, True),
    ]
    assert found["snapshots"][1]["counts"]["deleted"] == 1
    assert found["unfinished"] == []


def test_a_snapshot_is_summarised_with_what_it_is_made_with(table, capsys):
    lines = printed(capsys, show.run(table.root, as_json=False)).splitlines()
    assert lines[0].startswith(f"Snapshot 2 (after 1) of {table.root}, published ")
    assert lines[-3:] == [
        "embedder  no vectors yet (the manifest names none)",
        "sparse    none",
        "settings  not known",
    ]
    assert json.loads(printed(capsys, show.run(table.root, as_json=True)))["snapshot"] == 2


def test_a_run_at_work_and_a_dead_one_are_listed_apart(table, capsys):
    with Lease(table, 3, "run-x", parent=2):
        assert "Snapshot 3 is being built by run-x on" in printed(
            capsys, snapshots.run(table.root, as_json=False)
        )
    with pytest.raises(ValueError, match="died"), Lease(table, 3, "run-y", parent=2):
        raise ValueError("died")
    out = printed(capsys, snapshots.run(table.root, as_json=False))
    assert "Snapshot 3 was not finished" in out
    assert "Last at work: run-y on" in out


def test_a_rollback_writes_a_pointer_that_is_missing(table, capsys):
    table.delete(["latest.json"])
    out = printed(capsys, rollback.run(table.root, to=None, as_json=False))
    assert (
        out == f"Readers of {table.root} see snapshot 2; latest.json, which was missing, says so again.\n"
    )


def test_a_snapshot_that_has_lost_its_manifest_is_no_unfinished_run(table, capsys):
    table.delete(["snapshots/000001/manifest.json"])
    out = printed(capsys, snapshots.run(table.root, as_json=False))
    assert "Snapshot 1 has no manifest any more; `vacuum` removes what is left of it." in out
    table.delete(["snapshots/000002/manifest.json"])
    out = printed(capsys, snapshots.run(table.root, as_json=False))
    assert "Snapshot 2 has lost its manifest. Put it back from a backup, or send readers to another" in out


def test_a_rollback_says_how_to_undo_it(table, capsys):
    out = printed(capsys, rollback.run(table.root, to=None, as_json=False))
    assert f"Readers of {table.root} see snapshot 1, not 2 any more." in out
    assert f"`parquetry rollback {table.root} --to 2` undoes this." in out
    assert read_pointer(table).snapshot == 1
    assert "see snapshot 1, as before" in printed(capsys, rollback.run(table.root, to=1, as_json=False))


def test_a_rollback_under_a_running_job_says_that_it_will_publish_nothing(table, capsys):
    with Lease(table, 3, "run-x", parent=2):
        out = printed(capsys, rollback.run(table.root, to=1, as_json=False))
    assert "A run is at work, run-x on" in out
    record = json.loads(printed(capsys, rollback.run(table.root, to=2, as_json=True)))
    assert record == {"table": table.root, "snapshot": 2, "before": 1, "run_at_work": None}


def test_a_diff_counts_and_names_documents(table, capsys):
    out = printed(capsys, diff.run(table.root, 1, 2, as_json=False))
    assert out.splitlines()[1].split() == ["docs", "1", "0", "1", "1", "0", "1"]
    assert out.splitlines()[2:] == ["+ docs/d", "- docs/b"]
    assert "hold the same rows" in printed(capsys, diff.run(table.root, 2, 2, as_json=False))


def test_a_diff_as_json_names_every_row(table, capsys):
    found = json.loads(printed(capsys, diff.run(table.root, 1, 2, as_json=True)))
    assert found == {
        "from": 1,
        "to": 2,
        "sources": {
            "docs": {
                "documents": {"added": ["d"], "changed": [], "gone": ["b"]},
                "chunks": {"added": ["d-0"], "changed": [], "gone": ["b-0"]},
            }
        },
    }


def test_vacuum_says_what_goes_and_what_would(table, capsys):
    def run(**given):
        options = {"keep": 1, "grace": "0s", "dry_run": False, "as_json": False} | given
        return printed(capsys, vacuum.run(table.root, **options))

    assert run(grace="1d") == (
        f"Nothing to remove from {table.root}: "
        "besides the newest 1 no snapshot is out of use and older than 1d (--grace).\n"
    )
    assert run(dry_run=True).startswith(f"Would remove snapshots 1 from {table.root}: ")
    assert run().startswith(f"Removed snapshots 1 from {table.root}: ")
    assert json.loads(run(as_json=True)) == {
        "snapshots": [],
        "unfinished": [],
        "objects": 0,
        "dry_run": False,
    }


@pytest.mark.parametrize(("text", "seconds"), [("0s", 0), ("90m", 5400), ("12 h", 43_200), ("7d", 604_800)])
def test_a_span_of_time_is_written_as_a_person_does(text, seconds):
    assert vacuum.span(text) == datetime.timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "1", "d", "1w", "-1d", "1.5h"])
def test_what_is_no_span_of_time_is_told(text):
    with pytest.raises(ConfigError, match="is no span of time"):
        vacuum.span(text)
