"""The server that an address names, and where its secret comes from."""

import pytest

from transforms.loaders.address import parse_address
from transforms.loaders.server import is_server, server_of
from transforms.model.errors import ConfigError

SECRETS = {"key_env": "STORE_KEY"}


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("STORE_KEY", raising=False)


def server(written, **more):
    return server_of(parse_address(written), 6333, SECRETS, **more)


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("qdrant://host", "http://host:6333"),
        ("qdrant://host:7000#pages", "http://host:7000"),
        ("qdrant://host:443", "https://host:443"),
        ("qdrant://host:443?tls=false", "http://host:443"),
        ("qdrant://host?tls=true", "https://host:6333"),
        ("qdrant://[::1]:7000", "http://[::1]:7000"),
        ("qdrant://loader@host/", "http://host:6333"),
    ],
)
def test_host_port_and_tls_are_those_of_the_address(written, url):
    assert server(written).url == url


def test_a_user_is_named_in_the_address():
    assert server("qdrant://loader@host").user == "loader"


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("qdrant://user:hush@host", "a password has no place in an address"),
        ("qdrant://host/pages", "The collection stands behind #: qdrant://host#pages"),
        ("qdrant://host:99999", "the port is no number"),
        ("qdrant://host?tls=maybe", "tls is true or false"),
        ("qdrant://host?colour=red", "there is no option colour; there are key_env, tls"),
        ("qdrant://host?key_env=NOT_SET_ANYWHERE", "the environment variable NOT_SET_ANYWHERE is not set"),
        ("qdrant://:6333", "names no host"),
    ],
)
def test_what_is_wrong_with_an_address_is_said_without_its_secrets(written, fault):
    with pytest.raises(ConfigError) as error:
        server(written)
    assert fault in str(error.value)
    assert "hush" not in str(error.value)


def test_the_secret_is_that_of_the_variable_that_is_named_or_of_the_usual_one(monkeypatch):
    assert server("qdrant://localhost").secret is None
    monkeypatch.setenv("STORE_KEY", "usual")
    monkeypatch.setenv("OTHER_KEY", "other")
    assert server("qdrant://localhost").secret == "usual"
    assert server("qdrant://localhost?key_env=OTHER_KEY").secret == "other"


def test_a_secret_goes_in_clear_only_where_that_is_said(monkeypatch):
    monkeypatch.setenv("STORE_KEY", "usual")
    with pytest.raises(ConfigError, match="a secret would go there in clear"):
        server("qdrant://host")
    for written in (
        "qdrant://host?tls=true",
        "qdrant://host?tls=false",
        "qdrant://127.0.0.1",
        "qdrant://[::1]",
    ):
        assert server(written).secret == "usual"


def test_a_path_and_options_are_for_stores_that_know_them():
    found = server("chroma://host/base?tenant=t", options=frozenset({"tenant"}), path="prefix")
    assert (found.path, found.options) == ("base", {"tenant": "t"})


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("milvus://host", True),
        ("milvus:file.db", False),
        ("milvus:///a/file.db", False),
        ("milvus:/a.db", False),
    ],
)
def test_a_host_is_told_from_a_file(written, answer):
    assert is_server(parse_address(written)) is answer
