"""Of runs that race for a claim exactly one wins, on every kind of store."""

import datetime
import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from transforms.model.errors import GuardError
from transforms.table.layout import claim_path
from transforms.table.lease import Lease, read_claim
from transforms.table.pointer import move_pointer, read_pointer

RACERS = 6


def race(store, **options):
    """The runs that got the claim, all of them at the start line at once."""
    line = Barrier(RACERS)
    winners_hold = Barrier(RACERS)

    def run(n):
        line.wait()
        try:
            with Lease(store, 1, f"run-{n}", **options):
                winners_hold.wait(60)
                return n
        except GuardError as error:
            winners_hold.wait(60)
            return str(error)

    with ThreadPoolExecutor(RACERS) as pool:
        answers = list(pool.map(run, range(RACERS)))
    refusals = [answer for answer in answers if isinstance(answer, str)]
    assert all("Another run" in refusal for refusal in refusals)
    return [answer for answer in answers if not isinstance(answer, str)]


def dead(machine="elsewhere", seconds=-60):
    ends = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    return json.dumps(
        {
            "run_id": "dead",
            "host": "far",
            "pid": 7,
            "since": "2026-01-01T00:00:00+00:00",
            "expires_at": ends.isoformat(),
            "machine": machine,
            "started": "1",
        }
    ).encode()


def test_one_of_many_gets_a_claim_that_nobody_has(store):
    assert len(race(store)) == 1
    assert read_claim(store, 1) is None


def test_one_of_many_gets_the_claim_of_a_dead_run(store):
    store.create(claim_path(1), dead())
    assert len(race(store)) == 1


def test_one_of_many_that_take_over_gets_the_claim(store):
    store.create(claim_path(1), dead(seconds=60))
    assert len(race(store, take_over=True)) == 1


def test_a_live_claim_of_another_machine_is_told_with_all_that_a_person_needs(store):
    store.create(claim_path(1), dead(seconds=60))
    words = "dead on far, process 7, since 2026-01-01T00:00:00.00:00.*--take-over"
    with pytest.raises(GuardError, match=words), Lease(store, 1, "mine"):
        pass


def test_one_of_many_moves_the_pointer(store):
    move_pointer(store, 1, None)
    line = Barrier(RACERS)

    def move(n):
        line.wait()
        try:
            move_pointer(store, n, 1)
        except GuardError:
            return None
        return n

    with ThreadPoolExecutor(RACERS) as pool:
        moved = [n for n in pool.map(move, range(2, 2 + RACERS)) if n is not None]
    assert len(moved) == 1
    assert read_pointer(store).snapshot == moved[0]
