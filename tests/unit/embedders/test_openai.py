"""The client against a real server on loopback, with every fault that it must bear."""

from __future__ import annotations

import json
import logging
import pickle
import re
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest
from pydantic import ValidationError

from tests.servers.embedding_server import EmbeddingServer
from transforms.embedders.batching import embed_distinct
from transforms.embedders.budget import Budget, Purse
from transforms.embedders.client import ServerEmbedder
from transforms.embedders.dialects import DIALECTS
from transforms.embedders.lengths import parts_within
from transforms.embedders.openai import build, key_headers, limits_of, recipe
from transforms.embedders.pace import Pace
from transforms.embedders.protocol import StoppedError
from transforms.embedders.registry import make_embedder
from transforms.embedders.request import MALFORMED, Endpoint, error_text, parse_answer
from transforms.embedders.settings import OpenAISettings, StaticSettings
from transforms.embedders.utf8 import ByteCounter
from transforms.model.errors import BudgetReachedError, ConfigError, ParquetryError

MODEL = make_embedder(StaticSettings())
WORDS = ["wheel", "servo", "bolt", "nut", "rock", "rover", "arm", "mast", "sun", "sand", "cable"]
TEXTS = [" ".join(WORDS[(n * k) % 11] for k in range(1 + n % 9)) + f" {n}" for n in range(60)]


def settings_for(server: EmbeddingServer, **more) -> OpenAISettings:
    values = {"preset": "vllm", "base_url": server.url, "model": "static", "dimension": 256} | more
    return OpenAISettings(**values)


def client_for(server: EmbeddingServer, purse: Purse | None = None, **more) -> ServerEmbedder:
    """A client whose waits are a hundred times shorter."""
    settings = settings_for(server, **more)
    limits = limits_of(settings)
    endpoint = Endpoint(
        httpx.Client(headers=key_headers(limits), timeout=settings.timeout),
        f"{limits.base_url}/embeddings",
        Pace(limits.concurrency),
        DIALECTS["openai"].found,
        dimension=settings.model_dimension or settings.dimension,
        tries=settings.tries,
        deadline=settings.deadline,
        timeout=settings.timeout,
        backoff=0.005,
    )
    client = ServerEmbedder(settings, limits, endpoint, purse or Purse(None, 1))
    OPEN.append(client)
    return client


OPEN: list[ServerEmbedder] = []


@pytest.fixture(autouse=True)
def _close_clients():
    yield
    while OPEN:
        OPEN.pop().close()


@pytest.fixture
def server():
    with EmbeddingServer(MODEL) as server:
        yield server


def same(vectors, texts) -> bool:
    return vectors.tobytes() == MODEL.embed(texts).tobytes()


def test_vectors_are_the_models_bit_for_bit_in_the_order_of_the_texts(server):
    client = client_for(server, max_items=7)
    assert same(client.embed(TEXTS), TEXTS)
    assert sorted(len(texts) for texts in server.texts) == [4, 7, 7, 7, 7, 7, 7, 7, 7]


def test_each_distinct_text_is_sent_once_in_requests_of_similar_length(server):
    client = client_for(server, max_items=10)
    vectors = embed_distinct(client, TEXTS[:20] * 3)
    assert same(vectors, TEXTS[:20] * 3)
    sent = [text for texts in server.texts for text in texts]
    assert sorted(sent) == sorted(TEXTS[:20])
    assert all(texts == sorted(texts, key=len) for texts in server.texts)


def test_a_request_keeps_to_items_tokens_and_bytes(server):
    client = client_for(server, max_items=5, max_request_tokens=120, max_request_bytes=1024)
    texts = ["wheel " * 5, "é\n" * 300, *TEXTS]
    assert same(client.embed(texts), texts)
    for request in server.texts:
        assert len(request) <= 5
        assert len(request) == 1 or sum(len(text.encode()) for text in request) <= 120


def test_blank_texts_are_never_sent_and_have_no_vector(server):
    vectors = client_for(server).embed(["", "wheel", " \n", "servo"])
    assert np.isnan(vectors[[0, 2]]).all()
    assert same(vectors[[1, 3]], ["wheel", "servo"])
    assert server.texts == [["wheel", "servo"]]


def test_no_texts_are_no_request(server):
    assert client_for(server).embed([" "]).shape == (1, 256)
    assert client_for(server).embed([]).shape == (0, 256)
    assert server.texts == []


@pytest.mark.parametrize(
    "fault",
    [
        "shuffled", "floats", "missing", "extra", "twice", "nan", "zeros", "dimension", "429", "429-after",
        "408", "409", "500", "502", "503", "reset", "cut", "slow", "html", "not-json", "empty-object",
    ],
)  # fmt: skip
def test_one_fault_costs_time_and_no_vector(server, fault):
    server.script.extend([fault])
    assert same(client_for(server).embed(TEXTS[:8]), TEXTS[:8])


@pytest.mark.parametrize("fault", ["missing", "dimension", "500", "html"])
def test_a_batch_that_fails_twice_is_cut_and_all_its_texts_get_their_vectors(server, fault):
    server.script.extend([fault] * 4)
    client = client_for(server)
    assert same(client.embed(TEXTS[:8]), TEXTS[:8])
    assert client.refusal(TEXTS[0]) is None


@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:1]])
def test_another_length_than_configured_stops_with_what_to_set(server, texts):
    with pytest.raises(
        ParquetryError, match="vectors of length 256, and 1024 is configured: set dimension to 256"
    ):
        client_for(server, dimension=1024).embed(texts)
    assert sum(server.statuses.values()) <= 8


def test_retry_after_may_be_a_date(server):
    server.script.append("429-date")
    began = time.monotonic()
    assert same(client_for(server).embed(["wheel"]), ["wheel"])
    assert time.monotonic() - began > 0.05


def test_an_answer_that_comes_byte_by_byte_is_not_waited_for_longer_than_the_timeout(server):
    server.script.append("trickle")
    assert same(client_for(server, timeout=0.3).embed(["wheel"]), ["wheel"])
    assert server.statuses[200] == 2


def test_a_server_that_asks_to_wait_past_the_deadline_stops_all_that_wait_for_it(server):
    server.rules.per_second = 0.001
    server.rules.retry_after = 3000
    client = client_for(server, max_items=1, deadline=600)
    with pytest.raises(ParquetryError, match="429: it asks to go slower"):
        client.embed(TEXTS)


def test_a_wrong_key_stops_requests_that_have_not_been_sent(server):
    server.rules.broken = 401
    with pytest.raises(ParquetryError, match="the key is missing"):
        client_for(server, max_items=1).embed(TEXTS)
    assert server.statuses[401] <= 2


def test_a_hanging_server_is_left_after_the_timeout(server):
    server.script.append("hang")
    assert same(client_for(server, timeout=0.3).embed(["wheel"]), ["wheel"])


def test_being_told_to_wait_costs_no_tries(server):
    server.script.extend(["429"] * 7)
    assert same(client_for(server, tries=2).embed(["wheel"]), ["wheel"])
    assert server.statuses[429] == 7


def test_a_server_that_never_answers_well_stops_the_run_with_one_sentence(server):
    server.rules.broken = 503
    with pytest.raises(ParquetryError, match="does not answer as it should: 503: this server is broken"):
        client_for(server, tries=3).embed(TEXTS)
    assert server.statuses[503] <= 3 * 8


def test_the_deadline_ends_a_storm_of_429(server):
    server.rules.broken = 429
    with pytest.raises(ParquetryError, match="429: it asks to go slower"):
        client_for(server, deadline=0.3).embed(["wheel"])


def test_no_server_at_all_is_one_sentence():
    with EmbeddingServer(MODEL) as server:
        client = client_for(server, tries=2)
    with pytest.raises(ParquetryError, match="does not answer as it should: ConnectError"):
        client.embed(["wheel"])


@pytest.mark.parametrize(
    ("status", "hint"), [(401, "the key is missing"), (403, "may not use"), (404, "no such model")]
)
def test_a_wrong_key_or_model_stops_at_once(server, status, hint):
    server.rules.broken = status
    with pytest.raises(ParquetryError, match=hint):
        client_for(server).embed(["wheel"])
    assert server.statuses == {status: 1}


@pytest.mark.parametrize("status", [400, 413, 422, 424, 500])
def test_poison_texts_are_found_and_all_others_get_their_vectors(server, status):
    server.rules.poison = {"wheel 11": status, "nut": status}
    client = client_for(server, tries=3)
    bad = [text for text in TEXTS if "nut" in text or "wheel 11" in text]
    good = [text for text in TEXTS if text not in bad]
    vectors = client.embed(TEXTS)
    assert np.isnan(vectors[[TEXTS.index(text) for text in bad]]).all()
    assert same(vectors[[TEXTS.index(text) for text in good]], good)
    reason = "server_error" if status == 500 else "embedding_refused"
    assert {client.refusal(text) for text in bad} == {(reason, f"{status}: this input cannot be embedded")}
    assert {client.refusal(text) for text in good} == {None}


def test_a_text_that_a_firewall_takes_for_an_attack_is_refused_alone(server):
    server.rules.firewall = "nut 1"
    client = client_for(server)
    bad = [text for text in TEXTS if "nut 1" in text]
    good = [text for text in TEXTS if text not in bad]
    vectors = client.embed(TEXTS)
    assert same(vectors[[TEXTS.index(text) for text in good]], good)
    said = "403: <html><title>Blocked</title></html>"
    assert {client.refusal(text) for text in bad} == {("embedding_refused", said)}


def test_a_firewall_that_lets_nothing_through_is_to_blame_and_not_the_texts(server):
    server.rules.firewall = ""
    with pytest.raises(ParquetryError, match="refuses every text: 403: <html>"):
        client_for(server).embed(TEXTS)


def test_finding_poison_has_a_bound(server):
    server.rules.poison = {" ": 400}
    client = client_for(server)
    texts = [f"wheel {n}" for n in range(150)]
    with pytest.raises(ParquetryError, match="More than 200 requests were needed for one batch of 150"):
        client.embed(texts)


def test_a_server_that_refuses_everything_is_to_blame_and_not_the_texts(server):
    server.rules.broken = 400
    with pytest.raises(ParquetryError, match="refuses every text: 400: this server is broken"):
        client_for(server).embed(TEXTS)


def test_a_text_that_never_gets_a_finite_vector_is_refused_and_shifts_no_other(server):
    server.script.extend(["nan"] * 3)
    client = client_for(server)
    vectors = client.embed(["a wheel", "a servo"])
    assert np.isnan(vectors[0]).all()
    assert same(vectors[1:], ["a servo"])
    assert client.refusal("a wheel")[0] == "vector_not_finite"


def test_a_text_that_gets_its_vector_later_is_refused_no_more(server):
    client = client_for(server)
    server.rules.poison = {"servo": 400}
    client.embed(["wheel", "servo", "servo arm"])
    assert client.refusal("servo") is not None
    server.rules.poison = {}
    assert same(client.embed(["servo"]), ["servo"])
    assert client.refusal("servo") is None
    assert client.refusal("servo arm") is not None


@pytest.mark.parametrize(
    ("content", "places"),
    [
        (b'{"data": [{"index": 1.0, "embedding": [1]}, {"index": 0.0, "embedding": [2]}]}', [2, 1]),
        (b'{"data": [{"index": 0.5, "embedding": [1]}, {"index": 1, "embedding": [2]}]}', None),
        (b'{"data": [{"index": false, "embedding": [1]}, {"index": true, "embedding": [2]}]}', None),
        (b'{"data": [{"index": "0", "embedding": [1]}, {"index": [1], "embedding": [2]}]}', None),
        (b'{"data": [{"index": NaN, "embedding": [1]}, {"index": 1, "embedding": [2]}]}', None),
        (b'{"data": [{"index": 0, "embedding": [1' + b"0" * 400 + b"]}]}", None),
        (b"[" * 100_000, None),
        (b'{"data":' * 100_000, None),
        (b'{"data": [{"embedding": [1]}, {"index": 1, "embedding": [2]}]}', [1, 2]),
        (b'{"data": [{"embedding": [1]}, {"embedding": [2]}]}', None),
        (b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": null}]}', None),
        (b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [[2]]}]}', None),
        (b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": {"values": [2]}}]}', None),
    ],
)
def test_an_answer_is_read_whole_or_is_malformed(content, places):
    def read() -> list[float]:
        response = httpx.Response(200, content=content, request=httpx.Request("POST", "http://host"))
        return parse_answer(response, 2, 1, DIALECTS["openai"].found).vectors[:, 0].tolist()

    if places is not None:
        assert read() == places
        return
    with pytest.raises(Exception) as failure:  # noqa: PT011
        read()
    assert getattr(failure.value, "reason", None) == MALFORMED


def test_a_success_that_tells_of_an_error_is_told_in_its_words(server):
    request = httpx.Request("POST", server.url)
    response = httpx.Response(200, json={"error": {"message": "the model is overloaded"}}, request=request)
    with pytest.raises(Exception, match="not an answer to this: the model is overloaded"):
        parse_answer(response, 1, 1, DIALECTS["openai"].found)


def test_a_page_in_place_of_an_answer_is_told_by_how_it_begins(server):
    response = httpx.Response(200, html="<html>Sign in</html>", request=httpx.Request("POST", server.url))
    with pytest.raises(Exception, match="not an answer to this: <html>Sign in</html>"):
        parse_answer(response, 1, 1, DIALECTS["openai"].found)


def test_one_vector_for_all_texts_is_none(server):
    server.embedder = OneForAll()
    texts = [f"the number of this text is {n}" for n in range(8)]
    with pytest.raises(StoppedError, match="one and the same vector for 8 texts that differ"):
        client_for(server).embed(texts)
    assert np.isfinite(client_for(server).embed(texts[:7])).all()
    assert np.isfinite(client_for(server).embed([f"{n}." for n in range(20)])).all()


class OneForAll:
    """A model that is not looked at by what stands before it."""

    counter = MODEL.counter

    def embed(self, texts, task="document"):
        return np.ones((len(texts), 256), dtype=np.float32)


def test_the_number_of_items_is_learnt_from_the_servers_words(server):
    server.rules.max_items = 20
    client = client_for(server, max_items=100)
    assert same(client.embed(TEXTS), TEXTS)
    assert server.statuses == {422: 1, 200: 3}
    assert same(client.embed(TEXTS), TEXTS)
    assert server.statuses == {422: 1, 200: 6}


def test_a_body_that_is_too_large_is_cut(server):
    server.rules.max_bytes = 700
    assert same(client_for(server).embed(TEXTS), TEXTS)


def test_a_server_without_base64_is_asked_for_numbers(server):
    server.rules.base64 = False
    client = client_for(server, max_items=30)
    assert same(client.embed(TEXTS), TEXTS)
    assert server.statuses[400] <= 2


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is {limit} tokens, however you requested {given} tokens",
        "Input validation error: `inputs` must have less than {limit} tokens. Given: {given}",
        "Input length {given} exceeds maximum allowed token size {limit}",
        "Single text cannot exceed {limit} tokens. {given} tokens given.",
        "The input ({given} tokens) is longer than the model's context length ({limit} tokens).",
        "Too many input tokens. Max input tokens: {limit}, request input token count: {given}",
        "input ({given} tokens) is too large to process. increase the batch size (current batch size: {limit})",
        "The input token count is {given} but the model supports up to {limit}",
        "it has too many tokens and does not fit into the model's context window of {limit} tokens",
    ],
)
def test_a_shorter_input_than_configured_stops_with_what_to_set(server, said):
    server.rules.max_item_tokens, server.rules.too_long = 4, said
    with pytest.raises(ParquetryError, match="takes 4 tokens a text: set max_tokens") as failure:
        client_for(server).embed(TEXTS)
    assert failure.value.exit_code == ConfigError.exit_code


def test_a_text_over_the_input_is_split_truncated_or_refused(server):
    text = "wheel " * 10 + "servo " * 10
    half = len(text) // 2
    split = client_for(server, max_tokens=half + 5).embed([text])[0]
    np.testing.assert_allclose(split, MODEL.embed([text[:half], text[half:]]).mean(axis=0), atol=1e-6)
    truncated = client_for(server, max_tokens=half, too_long="truncate").embed([text])
    assert same(truncated, [text[:half]])
    client = client_for(server, max_tokens=half, too_long="error")
    assert np.isnan(client.embed([text])).all()
    assert client.refusal(text) == ("text_too_long", "120 tokens are over the model's 60")


@pytest.mark.parametrize("text", ["wheel servo " * 9, "😀" * 25, "x" * 99, "é"])
def test_parts_hold_all_of_a_text_and_none_is_too_long(text):
    for counter in (ByteCounter(), MODEL.counter):
        parts = parts_within(text, counter, 8)
        assert "".join(parts).replace(" ", "") == text.replace(" ", "")
        assert all(
            size <= 8 or len(part) == 1 for part, size in zip(parts, counter.count(parts), strict=True)
        )


def test_prefixes_are_sent_before_documents_and_questions(server):
    client = client_for(server, document_prefix="passage: ", query_prefix="query: ", max_tokens=50)
    client.embed(["wheel"])
    client.embed(["wheel"], "query")
    assert server.texts == [["passage: wheel"], ["query: wheel"]]
    assert client.max_tokens == 41


def test_vectors_can_be_scaled_to_length_one(server):
    vectors = client_for(server, normalise=True, max_tokens=20).embed(["wheel servo " * 5])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)


def test_text_cut_off_by_the_server_without_a_word_is_reported_once(server, caplog, tmp_path):
    server.rules.truncates_at = 3
    tokenizer = tmp_path / "tokenizer.json"
    tokenizer.write_text(MODEL.counter._tokenizer.to_str())
    client = client_for(server, tokenizer=str(tokenizer), max_items=1, max_concurrency=1)
    with caplog.at_level(logging.WARNING, "transforms"):
        client.embed(["wheel servo", "wheel servo arm mast sun", "rover arm mast sun sand"])
    (sentence,) = client.notices()
    assert sentence.startswith("The server counted 3 tokens where 6 were sent: it may cut texts off")
    assert [record.getMessage() for record in caplog.records] == [sentence]
    assert client.notices() == []


def tokens_sent(server: EmbeddingServer) -> int:
    return sum(sum(MODEL.counter.count(texts)) for texts in server.texts)


def test_a_server_that_cuts_long_texts_off_is_noticed_where_no_bound_is_set(server):
    long = " ".join(WORDS[n % 11] + str(n) for n in range(400))
    assert len(long) > 2000
    client = client_for(server)
    client.embed(["short", long])
    assert client.notices() == []
    server.rules.truncates_at = 100
    cut = client_for(server)
    cut.embed(["short", long])
    cut.embed([f"{long} 1", f"{long} 2"])
    assert cut.notices() == [
        f"The server gave a text of {len(long):,} characters and one that ends otherwise the same vector: "
        "it cuts texts off without saying so. Set max_tokens to the model's input."
    ]
    assert [len(texts) for texts in server.texts] == [2, 1, 2, 1, 2]


def test_no_text_is_asked_for_twice_where_its_bound_is_known(server):
    client_for(server, max_tokens=100_000).embed(["wheel " * 1000])
    assert len(server.texts) == 1


def test_the_budget_stops_before_it_is_overspent_and_what_was_paid_for_is_given(server, tmp_path):
    budget = Budget(str(tmp_path), "budget.json", 40)
    client = client_for(server, Purse(budget, 1), max_items=1, max_concurrency=1)
    texts = ["wheel" * 3 + f" {number}" for number in range(20)]
    with pytest.raises(StoppedError, match="budget of 40 tokens is used up") as stopped:
        client.embed(texts)
    assert isinstance(stopped.value.cause, BudgetReachedError)
    assert 20 < tokens_sent(server) <= 40
    paid = [text for request in server.texts for text in request]
    vectors = stopped.value.vectors
    assert same(vectors[: len(paid)], paid)
    assert np.isnan(vectors[len(paid) :]).all()


def test_a_budget_is_spent_by_what_the_server_bills_and_not_by_what_is_set_aside(server, tmp_path):
    server.chance = {"slow": 1.0}
    client = client_for(
        server, Purse(Budget(str(tmp_path), "budget.json", 40), 1), max_items=1, max_concurrency=6
    )
    # Eight bytes each are set aside, and the server bills fewer tokens: what is under way gives some back.
    with pytest.raises(StoppedError, match="budget of 40 tokens is used up"):
        client.embed([f"wheel {number}" for number in range(10, 60)])
    assert 40 - 8 < tokens_sent(server) <= 40


def test_who_waits_for_a_request_under_way_is_told_when_it_gives_nothing_back(tmp_path):
    purse = Purse(Budget(str(tmp_path), "budget.json", 10), 1)
    purse.reserve(8)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(purse.reserve, 8)
        purse.settle(8, 8)
        with pytest.raises(BudgetReachedError):
            waiting.result(timeout=60)
    purse.reserve(2)


def test_a_text_that_no_budget_reaches_for_is_not_paid_for_in_parts(server, tmp_path):
    purse = Purse(Budget(str(tmp_path), "budget.json", 100), 1)
    client = client_for(server, purse, max_tokens=60)
    with pytest.raises(
        StoppedError, match=r"smaller than the next text, which has 1[0-9]{2} tokens"
    ) as stopped:
        client.embed(["wheel " * 25, "servo"])
    assert server.texts == [["servo"]]
    assert np.isnan(stopped.value.vectors[0]).all()
    assert same(stopped.value.vectors[1:], ["servo"])


def test_a_request_over_the_budget_is_cut_to_what_the_budget_reaches_for(server, tmp_path):
    client = client_for(server, Purse(Budget(str(tmp_path), "budget.json", 20), 1))
    texts = ["wheel", "servo", "rover", "cable", "bolts", "rocks", "masts", "plate"]
    assert same(client.embed(texts), texts)
    assert server.texts == [texts[:4], texts[4:6], texts[6:]]


def test_processes_that_share_a_budget_never_overspend_it_together(server, tmp_path):
    def work(worker: int) -> None:
        budget = Budget(str(tmp_path), "budget.json", 400)
        client = client_for(server, Purse(budget, 4), max_items=1)
        with pytest.raises(StoppedError):
            client.embed([f"wheel servo {worker} {number}" for number in range(100)])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    # What a process holds and does not spend depends on who comes first.
    assert 100 < tokens_sent(server) <= 400


def test_a_refused_request_costs_no_budget(server, tmp_path):
    server.rules.poison = {"nut": 400}
    purse = Purse(Budget(str(tmp_path), "budget.json", 10_000), 1)
    client = client_for(server, purse)
    client.embed(["wheel", "nut", "servo"])
    spent = json.loads((tmp_path / "budget.json").read_text())["taken"] - purse._held
    assert spent == sum(MODEL.counter.count(["wheel", "servo", "parquetry"]))


def test_concurrency_begins_at_two_and_grows_to_its_bound(server):
    server.chance = {"slow": 1.0}
    client = client_for(server, max_items=1, max_concurrency=6)
    client.embed(TEXTS[:2])
    assert server.most_at_once <= 2
    client.embed(TEXTS)
    assert 2 < server.most_at_once <= 6


def test_with_a_fifth_of_all_requests_failing_every_vector_is_the_same(server):
    faults = ["shuffled", "missing", "extra", "nan", "dimension", "429", "500", "503", "reset", "cut"]
    server.chance = dict.fromkeys(faults, 0.02)
    client = client_for(server, max_items=4, tries=12)
    texts = [f"{text} {n}" for n in range(6) for text in TEXTS]
    assert same(embed_distinct(client, texts), texts)
    assert sum(server.faults.values()) > 12


KEY = "planted-4711/+"


def test_the_key_is_sent_and_appears_nowhere(server, monkeypatch, caplog):
    server.rules.key = KEY
    monkeypatch.setenv("MY_KEY", KEY)
    settings = settings_for(server, api_key_env="MY_KEY")
    client = build(settings)
    monkeypatch.setenv("MY_KEY", KEY + "-wrong")
    other = build(settings)
    OPEN.extend([client, other])
    with caplog.at_level(logging.DEBUG):
        assert same(client.embed(["wheel"]), ["wheel"])
        with pytest.raises(ParquetryError) as failure:
            other.embed(["wheel"])
    shown = [caplog.text, str(failure.value), repr(failure.value), repr(settings), recipe(settings)]
    shown += [repr(client), repr(client._endpoint), str(pickle.dumps(settings))]
    assert "401" in str(failure.value)
    assert not [text for text in shown if "planted" in text]


def test_a_key_in_a_servers_answer_is_hidden():
    request = httpx.Request("POST", "https://host/v1", headers={"Authorization": f"Bearer {KEY}"})
    forms = [
        "planted-4711/+",
        "PLANTED-4711/+",
        "planted-4711%2F%2B",
        "planted-4711/%2B",
        "cGxhbnRlZC00NzExLys=",
    ]
    for form in forms:
        answer = httpx.Response(
            400, json={"error": {"message": f"no such user {form}, bye"}}, request=request
        )
        assert re.fullmatch(r"no such user \*\*\*=?, bye", error_text(answer))
    other = {"error": {"message": "Incorrect API key provided: sk-abc. Bye"}}
    assert "abc" not in error_text(httpx.Response(401, json=other, request=request))


@pytest.mark.parametrize("fault", ["401", "poison"])
def test_a_key_that_a_server_repeats_is_not_shown(server, monkeypatch, fault):
    monkeypatch.setenv("MY_KEY", KEY)
    server.rules.key = KEY if fault == "poison" else "another"
    server.rules.poison, server.rules.echo = {"servo": 400}, True
    client = client_for(server, api_key_env="MY_KEY")
    if fault == "poison":
        client.embed(["wheel", "servo"])
        assert client.refusal("servo") == ("embedding_refused", "400: this input cannot be embedded (***)")
    else:
        with pytest.raises(ParquetryError, match=r"401: .*\*\*\*") as failure:
            client.embed(["wheel"])
        assert "planted" not in str(failure.value)


def test_a_key_that_is_not_set_is_named_before_anything_is_sent(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="environment variable OPENAI_API_KEY"):
        build(OpenAISettings(model="text-embedding-3-small", dimension=1536))


@pytest.mark.parametrize(
    "url", ["localhost:80", "http://me:secret@host/v1", "https://host/v1?key=secret", "ftp://host"]
)
def test_an_address_with_a_secret_or_of_no_server_is_refused(url):
    with pytest.raises(ValidationError):
        OpenAISettings(base_url=url, model="m", dimension=3)


def test_the_preset_of_a_server_of_ones_own_needs_its_address():
    with pytest.raises(ValidationError, match="the preset tei needs a base_url"):
        OpenAISettings(preset="tei", model="m", dimension=3)


def test_the_recipe_knows_what_decides_a_vector_and_not_where_or_how_fast():
    base = OpenAISettings(model="m", dimension=3)
    moved = base.model_copy(update={"base_url": "http://host/v1", "max_items": 3, "tries": 1})
    assert recipe(moved) == recipe(base)
    for change in ({"model": "n"}, {"document_prefix": "p"}, {"normalise": True}, {"ask_dimension": True}):
        assert recipe(base.model_copy(update=change)) != recipe(base)


def test_parameters_have_the_providers_names(server, monkeypatch):
    monkeypatch.setenv("VOYAGE_API_KEY", "x")
    client_for(server, preset="voyage", ask_dimension=True).embed(["wheel"], "query")
    assert server.bodies == [
        {"model": "static", "input": ["wheel"], "output_dimension": 256, "input_type": "query"}
    ]
