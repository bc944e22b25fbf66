"""The history of a table: what there is, the way back, and what vacuum removes."""

import datetime
import json
import os
import socket
from pathlib import Path

import pytest

from transforms.model.errors import ConfigError, GuardError, TableError
from transforms.table import history
from transforms.table.history import published, rollback, run_at_work, unfinished, vacuum
from transforms.table.lease import Lease
from transforms.table.manifest import read_manifest
from transforms.table.pointer import read_pointer
from transforms.table.publish import publish
from transforms.table.verify import check_files

LATER = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=30)


@pytest.fixture
def five(store, write_shard, draft):
    """Five snapshots, each with one file of its own and the one of the first."""
    first = publish(store, draft(1, new=write_shard(store, 1, "s1", ["a"])))
    for number in range(2, 6):
        new = write_shard(store, number, f"s{number}", ["b"])
        publish(store, draft(number, parent=number - 1, new=new, kept=first.files))
    return store


def numbers(store):
    return [manifest.snapshot for manifest in published(store)]


def test_snapshots_are_told_oldest_first(five):
    assert numbers(five) == [1, 2, 3, 4, 5]
    assert unfinished(five) == []


def test_a_rollback_moves_readers_and_never_gives_a_number_twice(five, write_shard, draft):
    assert rollback(five, 2).snapshot == 2
    pointer = read_pointer(five)
    assert (pointer.snapshot, pointer.highest) == (2, 5)
    publish(five, draft(6, parent=2, new=write_shard(five, 6, "s6", ["b"])))
    pointer = read_pointer(five)
    assert (pointer.snapshot, pointer.highest) == (6, 6)
    assert rollback(five, 5).snapshot == 5


def test_a_rollback_without_a_number_goes_back_to_what_the_present_snapshot_was_made_from(
    five, write_shard, draft
):
    assert rollback(five).snapshot == 4
    assert rollback(five, 2).snapshot == 2
    publish(five, draft(6, parent=2, new=write_shard(five, 6, "s6", ["b"])))
    assert rollback(five).snapshot == 2


def test_a_rollback_without_a_number_needs_something_to_go_back_to(five):
    vacuum(five, keep=1, now=LATER)
    with pytest.raises(TableError, match="no older one that is still there; name one with --to"):
        rollback(five)
    assert read_pointer(five).snapshot == 5


@pytest.mark.parametrize("number", [0, 6])
def test_a_rollback_to_what_is_not_there_is_refused(five, number):
    with pytest.raises(TableError, match=f"no published snapshot {number}"):
        rollback(five, number)
    assert read_pointer(five).snapshot == 5


def test_a_rollback_to_a_broken_snapshot_is_refused(five):
    five.delete(["snapshots/000003/chunks/source=docs/s3.parquet"])
    with pytest.raises(TableError, match=r"s3\.parquet is missing\. Put it back"):
        rollback(five, 3)


def test_a_place_without_a_table_has_no_history(store):
    with pytest.raises(TableError, match="There is no published snapshot at"):
        published(store)
    assert unfinished(store) == []


def test_vacuum_keeps_the_newest_and_leaves_no_trace_of_the_others(five):
    done = vacuum(five, keep=2, now=LATER)
    assert done.snapshots == (1, 2, 3)
    assert numbers(five) == [4, 5]
    assert sorted(path.name for path in Path(five.root, "snapshots").iterdir()) == ["000004", "000005"]
    rollback(five, 4)


def test_vacuum_says_what_it_would_do(five):
    assert vacuum(five, keep=4, now=LATER, dry_run=True).snapshots == (1,)
    assert numbers(five) == [1, 2, 3, 4, 5]
    assert vacuum(five, keep=4, now=LATER).objects == 5


def test_vacuum_leaves_what_readers_see_what_is_young_and_what_is_claimed(five):
    assert vacuum(five, keep=1).snapshots == ()
    rollback(five, 2)
    five.write("snapshots/000003/_plan/_claim.json", claim_of("r"))
    assert vacuum(five, keep=1, now=LATER).snapshots == (1, 4)
    assert numbers(five) == [2, 3, 5]


def test_vacuum_leaves_the_run_that_will_be_resumed_and_takes_what_nobody_resumes(five, write_shard):
    write_shard(five, 6, "s6", ["x"])
    five.delete(["snapshots/000003/manifest.json"])
    assert unfinished(five) == [3, 6]
    assert vacuum(five, keep=9).unfinished == (3,)
    assert unfinished(five) == [6]


def claim_of(run, **changes):
    held = {
        "run_id": run,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "since": "s",
        "expires_at": LATER.isoformat(),
    }
    return json.dumps(held | changes).encode()


def test_vacuum_leaves_a_run_at_work_and_the_snapshot_it_reads(five):
    rollback(five, 2)
    with Lease(five, 6, "run", parent=2):
        rollback(five, 5)
        assert vacuum(five, keep=1, now=LATER).snapshots == (1, 3, 4)
        assert unfinished(five) == [6]
        assert numbers(five) == [2, 5]


def test_a_run_at_work_is_told_to_who_rolls_back(five):
    assert run_at_work(five) is None
    with Lease(five, 6, "run"):
        assert run_at_work(five).run_id == "run"
    assert run_at_work(five) is None


def test_vacuum_takes_what_a_dead_run_left_when_nobody_resumed_it_in_time(five, write_shard):
    write_shard(five, 6, "s6", ["x"])
    ended = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=2)
    five.write("snapshots/000006/_plan/_claim.json", claim_of("dead", expires_at=ended.isoformat()))
    assert vacuum(five, keep=9, grace=datetime.timedelta(hours=3)).unfinished == ()
    assert vacuum(five, keep=9, grace=datetime.timedelta(hours=1), dry_run=True).unfinished == (6,)
    assert unfinished(five) == [6]
    assert vacuum(five, keep=9, grace=datetime.timedelta(hours=1)).unfinished == (6,)
    assert unfinished(five) == []
    assert not Path(five.root, "snapshots/000006").exists()


def test_vacuum_takes_nothing_from_a_run_that_begins_at_that_moment(five, write_shard, monkeypatch):
    """Between its look at the claim and the removal a run takes the directory up again."""
    write_shard(five, 6, "s6", ["x"])
    ended = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=2)
    five.write("snapshots/000006/_plan/_claim.json", claim_of("dead", expires_at=ended.isoformat()))
    with Lease(five, 6, "run"):
        monkeypatch.setattr(history, "_is_abandoned", lambda *facts: True)
        monkeypatch.setattr(history, "_leased", lambda store: set())
        with pytest.raises(GuardError, match="Another run is at work"):
            vacuum(five, keep=9)
    assert Path(five.root, "snapshots/000006/chunks/source=docs/s6.parquet").exists()


def at_the_removal_of(store, name, act, monkeypatch):
    """``act`` happens once, right before an object is deleted."""
    real, left = store.delete, [act]

    def delete(names):
        if name in names and left:
            left.pop()()
        real(names)

    monkeypatch.setattr(store, "delete", delete)


def test_vacuum_leaves_a_snapshot_that_readers_are_sent_back_to_at_that_moment(five, monkeypatch):
    at_the_removal_of(five, "snapshots/000002/manifest.json", lambda: rollback(five, 2), monkeypatch)
    done = vacuum(five, keep=2, now=LATER)
    assert (done.snapshots, done.objects) == ((1, 3), 12)
    assert numbers(five) == [2, 4, 5]
    check_files(five, read_manifest(five, read_pointer(five).snapshot))


def test_two_at_once_that_remove_the_same_do_no_harm(five, monkeypatch):
    at_the_removal_of(
        five, "snapshots/000001/manifest.json", lambda: vacuum(five, keep=2, now=LATER), monkeypatch
    )
    vacuum(five, keep=2, now=LATER)
    assert numbers(five) == [4, 5]
    check_files(five, read_manifest(five, 5))


def test_a_manifest_that_another_vacuum_takes_before_it_is_read_is_no_fault(five, monkeypatch):
    real = history.unfinished

    def look(store):
        found = real(store)
        store.delete([f"snapshots/00000{number}/manifest.json" for number in (1, 2)])
        return found

    monkeypatch.setattr(history, "unfinished", look)
    assert vacuum(five, keep=3, now=LATER).snapshots == (1, 2)
    assert numbers(five) == [3, 4, 5]


def test_a_rollback_to_a_snapshot_that_vacuum_takes_at_that_moment_moves_nobody(five, monkeypatch):
    real = history.check_files

    def check(store, manifest):
        real(store, manifest)
        vacuum(store, keep=2, now=LATER)

    monkeypatch.setattr(history, "check_files", check)
    with pytest.raises(TableError, match="was removed at this moment; readers see what they saw before"):
        rollback(five, 2)
    pointer = read_pointer(five)
    assert (pointer.snapshot, pointer.highest) == (5, 5)
    assert numbers(five) == [4, 5]


def test_vacuum_keeps_at_least_one(five):
    with pytest.raises(ConfigError, match="at least 1 snapshot, not 0"):
        vacuum(five, keep=0)


def test_a_snapshot_that_is_removed_while_others_are_read_is_passed_over(five, monkeypatch):
    real = five.read

    def read(name, **options):
        if name == "snapshots/000002/manifest.json":
            five.delete([name])
        return real(name, **options)

    monkeypatch.setattr(five, "read", read)
    assert numbers(five) == [1, 3, 4, 5]


def test_a_snapshot_whose_manifest_is_damaged_is_not_passed_over(five):
    five.write("snapshots/000002/manifest.json", b"{")
    with pytest.raises(TableError, match="000002/manifest"):
        numbers(five)
