"""Clients of HTTP with what the environment says of proxies."""

import sys

import pytest

from transforms.embedders.http import http_client
from transforms.model.errors import ConfigError


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def test_a_usual_proxy_is_no_trouble(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    http_client(base_url="http://localhost").close()


def test_a_socks_proxy_without_its_package_is_one_sentence_whatever_host_is_asked(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    monkeypatch.setenv("NO_PROXY", "localhost")
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(ConfigError, match=r"pip install 'httpx\[socks\]', or unset the variable"):
        http_client(base_url="http://localhost")


@pytest.mark.parametrize("proxy", ["ftp://me:hidden@proxy", "http://me:hidden@proxy:port"])
def test_an_address_of_no_proxy_is_one_sentence_without_it(monkeypatch, proxy):
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(ConfigError, match="is no address of one") as failure:
        http_client()
    assert "hidden" not in str(failure.value)
