"""What servers say of waiting, in the ways of providers."""

from __future__ import annotations

import httpx
import pytest

from transforms.embedders.dialects import DIALECTS
from transforms.embedders.hints import is_used_up, retry_after, seconds_to_wait
from transforms.embedders.pace import Pace
from transforms.embedders.request import Endpoint, Halt
from transforms.model.errors import ParquetryError

GOOGLE = {
    "error": {
        "code": 429,
        "message": "You exceeded your current quota. Please retry in 19.2s.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "19s"}],
    }
}
NO_QUOTA = {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}
GOOD = {"data": [{"index": 0, "embedding": [0.5]}]}


def test_retry_after_is_read_as_seconds_and_as_a_date_and_never_negative():
    assert retry_after("1.5", 0) == 1.5
    assert retry_after("Thu, 01 Jan 1970 00:00:30 GMT", 10) == 20
    assert retry_after("Thu, 01 Jan 1970 00:00:30 GMT", 50) == 0
    assert [retry_after(value, 0) for value in (None, "soon", "-3", "1e9")] == [0, 0, 0, 3600]


@pytest.mark.parametrize(
    ("headers", "content", "seconds"),
    [
        ({}, None, 0),
        ({"retry-after-ms": "2500"}, None, 2.5),
        ({"retry-after": "3", "retry-after-ms": "2500"}, None, 3),
        ({}, GOOGLE, 19.2),
        ({}, [GOOGLE], 19.2),
        (
            {},
            {"error": {"message": "Rate limit reached. Please try again in 1m30.5s. See the docs."}},
            90.5,
        ),
        ({}, {"error": {"message": "Rate limit reached. Please try again in 20ms."}}, 0.02),
        ({}, {"error": {"message": "Over the rate. Please retry after 55 seconds."}}, 55),
        ({}, {"detail": "Request was throttled. Expected available in 45 seconds."}, 45),
        ({}, {"message": "Too many requests. Please wait 30 seconds before the next."}, 30),
        ({}, {"error": {"message": "You may retry your request after 10 seconds."}}, 10),
        ({}, {"error": {"message": "Slow down.", "retry_after": 7.5}}, 7.5),
        ({}, {"error": "Too many.", "retry_after": "12"}, 12),
        ({}, {"message": "Try again in 2 days."}, 3600),
        ({}, {"error": {"message": "Try again in 5 batches.", "details": "none"}}, 0),
        ({"retry-after-ms": "soon"}, {"error": None}, 0),
    ],
)
def test_the_longest_wait_that_is_asked_for_counts(headers, content, seconds):
    assert seconds_to_wait(httpx.Headers(headers), content, 0) == pytest.approx(seconds)


def test_an_account_without_quota_is_told_from_one_that_is_too_fast():
    assert is_used_up(NO_QUOTA)
    assert not is_used_up(GOOGLE)
    assert not is_used_up(None)


def endpoint(*answers: tuple[int, object]) -> Endpoint:
    left = list(answers)
    transport = httpx.MockTransport(lambda request: httpx.Response(left[0][0], json=left.pop(0)[1]))
    return Endpoint(
        httpx.Client(transport=transport), "http://server/v1/embeddings", Pace(1), DIALECTS["openai"].found,
        dimension=1, tries=3, deadline=60, timeout=5, backoff=0.001,
    )  # fmt: skip


def test_waiting_for_quota_that_nobody_pays_for_is_not_begun():
    with pytest.raises(ParquetryError, match="no more quota \\(429: You exceeded your current quota"):
        endpoint((429, NO_QUOTA)).ask({}, ["a"], 1, Halt())


def test_a_wait_past_the_deadline_is_told_in_the_servers_words():
    late = {"error": {"message": "Too many today. Try again in 7h12m."}}
    with pytest.raises(ParquetryError, match=r"asks to go slower \(Too many today"):
        endpoint((429, late)).ask({}, ["a"], 1, Halt())


def test_a_wait_in_the_answer_is_kept_to():
    waits = []
    halt = Halt()
    halt.sleep = waits.append
    short = {"error": {"message": "Please try again in 40ms."}}
    assert endpoint((429, short), (200, GOOD)).ask({}, ["a"], 1, halt).vectors.tolist() == [[0.5]]
    assert waits[0] == pytest.approx(0.04, abs=0.001)
