"""The bulk interface of Elasticsearch: what a 200 hides, what passes, and what is refused; and secrets."""

import dataclasses

import pyarrow as pa
import pytest

from tests.stores.history import at
from tests.stores.servers.elastic import elastic_server
from tests.stores.test_contract import batch, target_of
from transforms.loaders import bulk
from transforms.loaders.address import parse_address
from transforms.loaders.elasticsearch import connect
from transforms.loaders.load import load
from transforms.loaders.rest import ServerError
from transforms.loaders.settings import LoadSettings
from transforms.model.errors import ConfigError

IDS = [f"{n:08}-0000-4000-8000-000000000000" for n in range(40)]


@pytest.fixture
def server():
    with elastic_server() as started:
        yield started


@pytest.fixture
def loader(server):
    opened = connect(parse_address(server.url.replace("http:", "elasticsearch:")))
    yield opened
    opened.close()


@pytest.fixture
def no_waiting(monkeypatch):
    waited = []
    monkeypatch.setattr("time.sleep", waited.append)
    return waited


@pytest.fixture
def target(loader):
    target = target_of(4)
    loader.create(target)
    return target


def loaded(loader, target):
    loader.upsert(target, batch(target, IDS))
    loader.finish(target)
    return loader.count("chunks")


def test_items_that_a_full_queue_turned_away_are_sent_again_and_no_others(
    server, loader, target, no_waiting
):
    server.turn_away = 2
    server.turned_away.update(dict.fromkeys(IDS[3:], 2))
    assert loaded(loader, target) == 40
    assert [body.count(b"\n") for body in server.bulks] == [80, 6, 6]
    assert len(no_waiting) == 2


def test_a_queue_that_stays_full_is_an_error(server, loader, target, no_waiting):
    server.turn_away = 100
    with pytest.raises(ServerError, match=r"queue of chunks stayed full: es_rejected_execution_exception"):
        loaded(loader, target)
    assert len(no_waiting) == 7


def test_an_item_that_is_refused_is_an_error_with_its_id_and_reason(server, loader, target):
    server.refused[IDS[7]] = (400, "failed to parse field")
    with pytest.raises(
        ServerError, match=f"document {IDS[7]} was refused: 400 mapper_parsing_exception: failed to"
    ):
        loaded(loader, target)


def test_a_vector_of_zeros_is_refused_by_the_server_and_not_lost(loader, target):
    with pytest.raises(ServerError, match="zero magnitude"):
        loader.upsert(target, batch(target, IDS[:1], [0.0] * 4))


def test_deleting_what_is_not_there_is_no_error_and_a_missing_index_is_one(loader, target):
    loaded(loader, target)
    loader.delete(target, pa.array([IDS[0], "nobody"]))
    assert loader.count("chunks") == 39
    with pytest.raises(ServerError, match="no such index"):
        loader.delete(dataclasses.replace(target, collection="other"), pa.array(["nobody"]))


def test_requests_that_fail_for_a_while_are_repeated_after_the_pause_that_is_asked_for(
    server, loader, no_waiting
):
    server.faults.extend([(429, {"Retry-After": "3"}), (503, {}), (502, {"Retry-After": "tomorrow"})])
    assert loader.describe("chunks") is None
    assert no_waiting[0] == 3
    assert len(no_waiting) == 3


def test_requests_that_fail_for_good_end_in_the_servers_words(server, loader, no_waiting):
    server.faults.extend([(503, {})] * 8)
    with pytest.raises(ServerError, match=r"GET /chunks/_mapping was answered 503: .*on request"):
        loader.describe("chunks")
    assert not server.faults


def test_attempts_of_a_bulk_request_are_not_multiplied_by_those_of_its_items(
    server, loader, target, no_waiting
):
    server.faults.extend([(503, {})] * 100)
    with pytest.raises(ServerError, match="was answered 503"):
        loader.upsert(target, batch(target, IDS))
    assert len(server.faults) == 92
    assert len(no_waiting) == 7


def test_a_server_that_is_not_there_is_named_as_such(no_waiting):
    absent = connect(parse_address("elasticsearch://127.0.0.1:1"))
    with pytest.raises(ServerError, match="no answer"):
        absent.describe("chunks")
    absent.close()


def test_requests_are_cut_by_rows_and_by_bytes(server, loader, target, monkeypatch):
    monkeypatch.setattr(bulk, "_ROWS", 16)
    monkeypatch.setattr(bulk, "_BYTES", 2_000)
    server.most_bytes = 2_000
    assert loaded(loader, target) == 40
    assert all(len(body) <= 2_000 for body in server.bulks)
    assert len(server.bulks) > 3


def test_rows_are_searched_only_after_they_are_refreshed_and_counted_all_the_same(server, loader, target):
    loader.upsert(target, batch(target, IDS))
    assert server.indexes["chunks"]["shown"] == {}
    assert server.indexes["chunks"]["settings"]["index"]["refresh_interval"] == "-1"
    assert loader.count("chunks") == 40
    loader.finish(target)
    assert server.indexes["chunks"]["settings"]["index"]["refresh_interval"] is None


def test_a_key_is_sent_and_shown_in_no_error(server, monkeypatch):
    monkeypatch.setenv("SEARCH_KEY", "c2VjcmV0LWtleQ==")
    server.authorization = "ApiKey other"
    address = parse_address(server.url.replace("http:", "elasticsearch:") + "?api_key_env=SEARCH_KEY")
    loader = connect(address)
    with pytest.raises(ServerError, match="unable to authenticate") as error:
        loader.describe("chunks")
    assert "c2VjcmV0" not in str(error.value)
    server.authorization = "ApiKey c2VjcmV0LWtleQ=="
    assert loader.describe("chunks") is None
    loader.close()


@pytest.mark.parametrize("name", ["Chunks", "_chunks", "a b", "a/b", "a,b", "a" * 256])
def test_a_name_that_no_index_has_is_refused_before_anything_is_written(server, table, name):
    settings = LoadSettings(to=f"{server.url.replace('http:', 'elasticsearch:')}#{name}")
    with pytest.raises(
        ConfigError, match="is no name of a collection of Elasticsearch: it begins with a small"
    ):
        load(at(table, 1), settings)
    assert not server.indexes


def test_metadata_is_an_object_even_if_it_was_none(server, loader, target):
    loaded(loader, target)
    assert server.indexes["chunks"]["new"][IDS[0]]["metadata"] == {"text": "x"}


def test_a_sparse_vector_is_a_field_of_rank_features_named_by_their_terms(server, loader):
    target = target_of(4, "words")
    loader.replace(target, iter([batch(target, IDS[:1])]))
    assert server.indexes["chunks"]["mappings"]["properties"]["words"] == {"type": "rank_features"}
    assert server.indexes["chunks"]["new"][IDS[0]]["words"] == {"1": 1.0}


def test_an_index_of_others_gets_the_field_and_one_of_another_type_is_refused(server, loader, target):
    loaded(loader, target)
    sparse = target_of(4, "sparse")
    loader.replace(sparse, iter([batch(sparse, IDS[:2])]))
    assert loader.count("chunks") == 2
    taken = target_of(4, "source_name_words")
    server.indexes["chunks"]["mappings"]["properties"]["source_name_words"] = {"type": "keyword"}
    with pytest.raises(ServerError, match=r"mapper \[source_name_words\] cannot be changed"):
        loader.replace(taken, iter([batch(taken, IDS[:2])]))
