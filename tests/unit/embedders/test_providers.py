"""Each provider's interface, spoken with a real server on loopback that refuses what the provider would."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest

from tests.servers.provider_server import AWS, KEY, REGION, TOKEN, ProviderServer
from transforms.embedders import bedrock, openai, vertex
from transforms.embedders.dialects import DIALECTS
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import BedrockSettings, OpenAISettings, StaticSettings, VertexSettings
from transforms.model.errors import ConfigError, ParquetryError

MODEL = make_embedder(StaticSettings())
TEXTS = [f"The wheel {number} of the rover has a bolt." for number in range(12)]


@pytest.fixture
def server():
    with ProviderServer(MODEL) as server:
        yield server


@pytest.fixture
def opened():
    """Clients that are closed after the test."""
    clients = []
    yield lambda client: clients.append(client) or client
    for client in clients:
        client.close()


@pytest.fixture
def google(server, tmp_path, monkeypatch):
    """A service account of Google's, whose tokens the server gives."""
    rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")
    from cryptography.hazmat.primitives import serialization

    pem = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "type": "service_account", "project_id": "my-project", "private_key_id": "1", "client_id": "2",
        "private_key": pem.decode(), "client_email": "me@my-project.example", "token_uri": f"{server.url}/token",
    }  # fmt: skip
    file = tmp_path / "account.json"
    file.write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))


@pytest.fixture
def amazon(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", AWS[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", AWS[1])


def close_to(vectors, texts, dimension=256) -> bool:
    return bool((vectors == MODEL.embed(texts)[:, :dimension]).all())


def cohere_of(server, **more) -> OpenAISettings:
    values = {"preset": "cohere", "base_url": f"{server.url}/v2", "model": "embed-v4.0", "dimension": 256}
    return OpenAISettings(**values | more)


def gemini_of(server, **more) -> OpenAISettings:
    values = {
        "preset": "gemini", "base_url": f"{server.url}/v1beta", "model": "gemini-embedding-001", "dimension": 256,
    }  # fmt: skip
    return OpenAISettings(**values | more)


def vertex_of(server, **more) -> VertexSettings:
    values = {
        "project": "my-project", "base_url": f"{server.url}/v1", "model": "text-embedding-005", "dimension": 256,
    }  # fmt: skip
    return VertexSettings(**values | more)


def bedrock_of(server, **more) -> BedrockSettings:
    values = {
        "region": REGION, "base_url": server.url, "model": "amazon.titan-embed-text-v2:0", "dimension": 256,
    }  # fmt: skip
    return BedrockSettings(**values | more)


def test_cohere_gets_texts_and_their_task_under_its_own_names(server, opened, monkeypatch):
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    client = opened(openai.build(cohere_of(server, max_items=10)))
    assert close_to(client.embed(TEXTS), TEXTS)
    client.embed(["a wheel"], "query")
    path, body = server.requests[-1]
    assert path == "/v2/embed"
    assert body == {
        "model": "embed-v4.0", "texts": ["a wheel"], "embedding_types": ["float"], "truncate": "NONE",
        "input_type": "search_query",
    }  # fmt: skip
    assert sorted(len(request["texts"]) for _, request in server.requests) == [1, 2, 10]


def test_no_more_than_ninety_six_texts_go_to_cohere_at_once(server, opened, monkeypatch):
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    texts = [f"wheel {number}" for number in range(200)]
    assert close_to(opened(openai.build(cohere_of(server))).embed(texts), texts)
    assert sorted(len(request["texts"]) for _, request in server.requests) == [8, 96, 96]


def test_the_gemini_api_gets_a_request_a_text_with_its_task(server, opened, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    client = opened(openai.build(gemini_of(server, dimension=64, ask_dimension=True)))
    assert close_to(client.embed(TEXTS), TEXTS, 64)
    path, body = server.requests[-1]
    assert path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert body["requests"][0] == {
        "model": "models/gemini-embedding-001", "content": {"parts": [{"text": TEXTS[0]}]},
        "outputDimensionality": 64, "taskType": "RETRIEVAL_DOCUMENT",
    }  # fmt: skip


def test_newer_gemini_models_are_told_no_task_but_by_a_prefix(server, opened, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    settings = gemini_of(server, model="gemini-embedding-2", query_prefix="task: search result | query: ")
    opened(openai.build(settings)).embed(["a wheel"], "query")
    (request,) = server.requests[-1][1]["requests"]
    assert "taskType" not in request
    assert request["content"]["parts"][0]["text"] == "task: search result | query: a wheel"


def test_vertex_is_asked_with_a_token_of_the_service_account(server, opened, google):
    client = opened(vertex.build(vertex_of(server, dimension=128, ask_dimension=True)))
    assert close_to(client.embed(TEXTS), TEXTS, 128)
    path, body = server.requests[-1]
    assert path.endswith("/locations/us-central1/publishers/google/models/text-embedding-005:predict")
    assert body["instances"][0] == {"content": TEXTS[0], "task_type": "RETRIEVAL_DOCUMENT"}
    assert body["parameters"] == {"autoTruncate": False, "outputDimensionality": 128}


def test_newer_gemini_models_on_vertex_take_one_text_a_request(server, opened, google):
    client = opened(vertex.build(vertex_of(server, model="gemini-embedding-2")))
    assert close_to(client.embed(TEXTS[:3]), TEXTS[:3])
    assert sorted(body["content"]["parts"][0]["text"] for _, body in server.requests) == TEXTS[:3]
    assert {path.rpartition(":")[2] for path, _ in server.requests} == {"embedContent"}


def test_without_a_google_identity_one_sentence_says_how_to_get_one(server, tmp_path, monkeypatch):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "missing.json"))
    with pytest.raises(ConfigError, match="finds no Google identity here"):
        vertex.build(vertex_of(server))


def test_an_identity_that_google_knows_no_more_stops_the_run_with_one_sentence(server, opened, google):
    client = opened(vertex.build(vertex_of(server)))
    server.__exit__()
    with pytest.raises(ParquetryError, match="Google gives no token for this identity: TransportError"):
        client.embed(["wheel"])


def test_titan_on_bedrock_takes_one_signed_text_a_request(server, opened, amazon):
    client = opened(bedrock.build(bedrock_of(server, ask_dimension=True)))
    assert close_to(client.embed(TEXTS[:3]), TEXTS[:3])
    assert {path for path, _ in server.requests} == {"/model/amazon.titan-embed-text-v2%3A0/invoke"}
    assert sorted(body["inputText"] for _, body in server.requests) == TEXTS[:3]
    assert {body["dimensions"] for _, body in server.requests} == {256}


def test_cohere_on_bedrock_takes_many_with_their_task(server, opened, amazon):
    client = opened(bedrock.build(bedrock_of(server, model="cohere.embed-multilingual-v3")))
    assert close_to(client.embed(TEXTS), TEXTS)
    ((_, body),) = server.requests
    assert (body["input_type"], len(body["texts"])) == ("search_document", 12)
    assert "model" not in body


def test_a_wrong_signature_stops_the_run_at_once(server, opened, amazon, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    client = opened(bedrock.build(bedrock_of(server)))
    with pytest.raises(ParquetryError, match="may not use this model"):
        client.embed(["wheel"])
    assert len(server.requests) == 1


def test_without_an_aws_identity_one_sentence_says_how_to_get_one(server, tmp_path, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(ConfigError, match="finds no AWS identity here"):
        bedrock.build(bedrock_of(server))


def test_a_provider_that_asks_to_go_slower_is_asked_again_in_a_while(server, opened, amazon):
    server.statuses.append(429)
    assert close_to(opened(bedrock.build(bedrock_of(server))).embed(["wheel"]), ["wheel"])
    assert len(server.requests) == 2


def test_no_key_and_no_token_appears_anywhere(server, opened, google, amazon, monkeypatch, caplog):
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    clients = [
        opened(openai.build(cohere_of(server))),
        opened(vertex.build(vertex_of(server))),
        opened(bedrock.build(bedrock_of(server))),
    ]
    with caplog.at_level(logging.DEBUG):
        for client in clients:
            client.embed(["wheel"])
            server.statuses.append(403)
            with pytest.raises(ParquetryError) as failure:
                client.embed(["servo"])
            assert "Wait before trying, ***" in str(failure.value)
            assert not planted([str(failure.value), repr(failure.value), repr(client)])
    assert not planted([caplog.text])


def planted(texts) -> list[str]:
    return [text for text in texts for secret in (KEY, TOKEN, *AWS) if secret in text]


@pytest.mark.parametrize(
    ("make", "recipe"),
    [(vertex_of, vertex.recipe), (bedrock_of, bedrock.recipe), (cohere_of, openai.recipe)],
)
def test_a_recipe_knows_the_model_and_what_is_done_to_vectors_but_no_address(server, make, recipe):
    base = make(server)
    assert server.url not in recipe(base)
    assert recipe(base.model_copy(update={"max_items": 3, "tries": 1})) == recipe(base)
    for change in (
        {"model": "cohere.m"},
        {"normalise": True},
        {"model_dimension": 512},
        {"too_long": "error"},
    ):
        assert recipe(base.model_copy(update=change)) != recipe(base)


def test_vectors_are_the_first_numbers_where_the_server_cannot_shorten_them(server, opened, monkeypatch):
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    settings = cohere_of(server, model_dimension=256, dimension=32, normalise=True)
    vectors = opened(openai.build(settings)).embed(TEXTS)
    wanted = MODEL.embed(TEXTS)[:, :32]
    np.testing.assert_allclose(vectors, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize(
    ("dialect", "content"),
    [
        ("cohere", {"embeddings": {"float": [[1.0]]}, "meta": None}),
        ("vertex", {"predictions": [{"embeddings": {"values": [1.0], "statistics": None}}]}),
        ("content", {"embedding": {"values": [1.0]}, "usageMetadata": None}),
    ],
)
def test_an_answer_that_says_nothing_of_its_tokens_is_one(dialect, content):
    found = DIALECTS[dialect].found(content)
    assert [row.tolist() for row in found.rows] == [[1.0]]
    assert not found.usage
