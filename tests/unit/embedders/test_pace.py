"""How fast requests go, on a clock that only sleeping moves."""

from __future__ import annotations

import pytest

from transforms.embedders.pace import Pace


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


def send(pace: Pace, tokens: int = 1) -> float:
    with pace.turn(tokens) as sent_at:
        return sent_at


def test_requests_keep_to_a_quota_of_requests(clock):
    pace = Pace(8, requests_per_minute=60, clock=clock, sleep=clock.sleep)
    assert [send(pace) for _ in range(4)] == [0, 1, 2, 3]


def test_requests_keep_to_a_quota_of_tokens(clock):
    pace = Pace(8, tokens_per_minute=600, clock=clock, sleep=clock.sleep)
    assert [send(pace, 20), send(pace, 5), send(pace)] == [0, 2, 2.5]


def test_without_a_quota_nothing_waits(clock):
    pace = Pace(8, clock=clock, sleep=clock.sleep)
    assert [send(pace) for _ in range(4)] == [0, 0, 0, 0]


def test_concurrency_begins_at_two_and_grows_by_about_one_a_round(clock):
    pace = Pace(4, clock=clock, sleep=clock.sleep)
    grown = []
    for _ in range(9):
        grown.append(pace.concurrency)
        pace.went_well()
    assert grown == [2, 2, 2, 3, 3, 3, 4, 4, 4]
    assert Pace(1).concurrency == 1


def test_one_event_is_one_pause_and_one_halving_however_many_requests_it_hits(clock):
    pace = Pace(8, clock=clock, sleep=clock.sleep)
    for _ in range(60):
        pace.went_well()
    assert pace.concurrency == 8
    sent = [send(pace) for _ in range(8)]
    clock.now = 1.0
    for sent_at in sent:
        pace.refused(sent_at, 3.0)
    assert pace.concurrency == 4
    assert send(pace) == 4.0


def test_a_refusal_of_a_request_sent_after_the_last_one_is_another_event(clock):
    pace = Pace(8, clock=clock, sleep=clock.sleep)
    for _ in range(60):
        pace.went_well()
    clock.now = 1.0
    pace.refused(send(pace), 1.0)
    pace.refused(send(pace), 1.0)
    assert pace.concurrency == 2


def test_after_a_refusal_requests_go_slower_than_the_server_bore_and_then_faster_again(clock):
    pace = Pace(8, clock=clock, sleep=clock.sleep)
    for _ in range(50):
        clock.now += 0.1
        pace.went_well()
    pace.refused(clock.now, 0.0)
    first, second = send(pace), send(pace)
    assert second - first == pytest.approx(1 / 7, rel=0.05)
    clock.now += 50
    send(pace)
    first, second = send(pace), send(pace)
    assert second - first == pytest.approx(1 / 14, rel=0.05)


def test_a_refusal_before_the_server_bore_anything_is_only_a_pause(clock):
    pace = Pace(8, clock=clock, sleep=clock.sleep)
    pace.refused(send(pace), 2.0)
    assert [send(pace), send(pace)] == [2.0, 2.0]
