"""One run at a time works on a table, and a dead one's place is taken by exactly one."""

import datetime
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from transforms.model.errors import GuardError, StorageError, TableError
from transforms.table import lease
from transforms.table.lease import Lease, read_claim, require_claim

REPO = Path(__file__).parents[3]
HOLD = """
import sys
from transforms.model.errors import GuardError
from transforms.storage.local import LocalStore
from transforms.table.lease import Lease

sys.stdin.readline()
try:
    with Lease(LocalStore(sys.argv[1]), 1, sys.argv[2]):
        print("held", flush=True)
        sys.stdin.readline()
except GuardError as error:
    print(f"refused: {error}", flush=True)
"""


def start(store, run_id):
    """Another process that takes the claim when it gets a line, and leaves it at the next."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, store.root, run_id],
        cwd=REPO,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def go(process):
    process.stdin.write("\n")
    process.stdin.flush()


def stop(process, *, kill=False):
    if kill:
        process.kill()
    process.communicate()


def claim(**changes):
    given = {
        "run_id": "old",
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "since": "2026-01-01T00:00:00+00:00",
        "expires_at": (datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=1)).isoformat(),
        "machine": lease._machine(),
        "started": lease._started(os.getpid()),
    }
    return json.dumps(given | changes).encode()


PAST = "2026-01-01T00:00:00+00:00"
PATH = "snapshots/000001/_plan/_claim.json"


def test_a_claim_is_held_and_left(store):
    with Lease(store, 1, "run-a"):
        held = read_claim(store, 1)
        assert (held.run_id, held.host, held.pid) == ("run-a", socket.gethostname(), os.getpid())
        assert held.alive()
    assert read_claim(store, 1) is None


def test_a_second_run_is_told_who_is_at_work(store):
    with (
        Lease(store, 1, "run-a"),
        pytest.raises(
            GuardError, match=f"run-a on {socket.gethostname()}, process {os.getpid()}, since 20"
        ),
        Lease(store, 1, "run-b"),
    ):
        pass


def test_the_claim_of_a_process_that_was_killed_is_taken_over(store):
    other = start(store, "run-a")
    go(other)
    assert other.stdout.readline() == "held\n"
    with pytest.raises(GuardError, match=f"process {other.pid}"), Lease(store, 1, "run-b"):
        pass
    stop(other, kill=True)
    with Lease(store, 1, "run-b"):
        assert read_claim(store, 1).run_id == "run-b"


def test_of_many_processes_that_race_for_a_dead_claim_one_wins(store):
    store.create(PATH, claim(pid=2**22 + 1))
    racers = [start(store, f"run-{n}") for n in range(4)]
    for racer in racers:
        go(racer)
    answers = [racer.stdout.readline() for racer in racers]
    for racer in racers:
        stop(racer)
    assert sorted(answer.split(":")[0].strip() for answer in answers) == ["held", *["refused"] * 3]
    assert read_claim(store, 1) is None


@pytest.mark.parametrize(
    ("changes", "alive"),
    [
        ({}, True),
        ({"pid": 2**22 + 1}, False),
        ({"started": "1"}, False),
        ({"machine": "elsewhere", "pid": 2**22 + 1}, True),
        ({"machine": "elsewhere", "expires_at": PAST}, False),
        # Here the system knows: the machine may have been asleep, and the clock goes on meanwhile.
        ({"expires_at": PAST}, True),
        ({"expires_at": PAST, "started": ""}, False),
        ({"over": True}, False),
        ({"machine": "elsewhere", "over": True}, False),
    ],
)
def test_a_claim_lives_with_its_process_on_this_machine_and_until_it_runs_out_elsewhere(
    store, changes, alive
):
    store.create(PATH, claim(**changes))
    assert read_claim(store, 1).alive() is alive


def test_the_claim_of_another_machine_is_taken_over_where_a_person_says_so(store):
    store.create(PATH, claim(machine="elsewhere"))
    with pytest.raises(GuardError, match="--take-over"), Lease(store, 1, "run-b"):
        pass
    with Lease(store, 1, "run-b", take_over=True):
        assert read_claim(store, 1).run_id == "run-b"
        with pytest.raises(GuardError, match="taken over by run-b"):
            require_claim(store, 1, "old")


def test_a_run_that_is_alive_on_this_machine_is_not_taken_over_whatever_a_person_says(store):
    store.create(PATH, claim())
    with (
        pytest.raises(GuardError, match=r"old on .* Wait for it, or stop it"),
        Lease(store, 1, "run-b", take_over=True),
    ):
        pass
    assert read_claim(store, 1).run_id == "old"


def test_a_run_that_ends_in_an_error_leaves_word_of_itself_and_keeps_nobody_out(store):
    with pytest.raises(StorageError), Lease(store, 1, "run-a"):
        raise StorageError("the disk is full")
    left = read_claim(store, 1)
    assert left.run_id == "run-a"
    assert not left.alive()
    with Lease(store, 1, "run-b"):
        assert read_claim(store, 1).run_id == "run-b"
    assert read_claim(store, 1) is None


def test_a_run_that_wakes_up_when_its_snapshot_is_published_may_not_write_into_it(
    store, write_shard, draft
):
    from transforms.table.publish import publish

    publish(store, draft(1, new=write_shard(store, 1, "s1", ["a"])))
    with pytest.raises(GuardError, match="has got snapshot 1 since this run planned snapshot 1"):
        require_claim(store, 1, "late")


def test_a_holder_that_lost_its_claim_leaves_the_new_one_alone(store):
    with Lease(store, 1, "run-a"):
        store.write(PATH, claim(run_id="thief"))
    assert read_claim(store, 1).run_id == "thief"


def test_a_snapshot_that_was_published_since_is_not_built_again(store, write_shard, draft):
    from transforms.table.publish import publish

    publish(store, draft(1, new=write_shard(store, 1, "s1", ["a"])))
    with pytest.raises(GuardError, match="just published snapshot 1"), Lease(store, 1, "run-b"):
        pass
    assert read_claim(store, 1) is None


def test_a_claim_is_renewed(store, monkeypatch):
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.01)
    with Lease(store, 1, "run-a"):
        first = store.stat(PATH).token
        for _ in range(1000):
            if store.stat(PATH).token != first:
                break
            lease.threading.Event().wait(0.01)
        assert store.stat(PATH).token != first
    assert read_claim(store, 1) is None


def test_a_store_that_fails_for_a_moment_does_not_end_the_lease(store, monkeypatch):
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.01)
    failures = [StorageError("away")] * 3
    real = store.replace

    def shaky(*args):
        if failures:
            raise failures.pop()
        return real(*args)

    monkeypatch.setattr(store, "replace", shaky)
    with Lease(store, 1, "run-a"):
        first = store.stat(PATH).token
        for _ in range(1000):
            if store.stat(PATH).token != first:
                break
            lease.threading.Event().wait(0.01)
        assert store.stat(PATH).token != first
        assert failures == []


@pytest.mark.parametrize("fault", [None, RuntimeError("the run failed")])
def test_a_run_that_could_not_leave_its_claim_does_not_keep_out_the_next_of_its_process(
    store, monkeypatch, fault
):
    def away(*_):
        raise StorageError("away")

    def work():
        with Lease(store, 1, "run-a"):
            assert read_claim(store, 1).alive()
            # No store answers from here on, and at the end of the block.
            monkeypatch.setattr(store, "delete", away)
            monkeypatch.setattr(store, "replace", away)
            if fault:
                raise fault

    if fault:
        with pytest.raises(RuntimeError, match="the run failed"):
            work()
    else:
        work()
    monkeypatch.undo()
    assert read_claim(store, 1).run_id == "run-a"
    with Lease(store, 1, "run-b"):
        assert read_claim(store, 1).holder().startswith("run-b")


def test_a_claim_that_cannot_be_read_is_left_to_a_person(store):
    store.create(PATH, b"{}")
    with pytest.raises(TableError, match=r"claim\.json is damaged: .* delete it"), Lease(store, 1, "run-b"):
        pass


def test_a_dead_process_that_nobody_asked_how_it_ended_is_dead(store):
    """In a container often nobody does, and the process stays in the system's table."""
    process = subprocess.Popen([sys.executable, "-c", "pass"], stdout=subprocess.PIPE)
    started = lease._started(process.pid)
    store.create(PATH, claim(pid=process.pid, started=started or "1"))
    process.stdout.read()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not read_claim(store, 1).alive()
    process.communicate()
