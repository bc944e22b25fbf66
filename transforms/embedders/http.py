"""Clients of HTTP, through whatever proxies the environment names; proxies that cannot be used are told in words."""

from __future__ import annotations

from typing import Any
from urllib.request import getproxies

import httpx

from transforms.model.errors import ConfigError


def http_client(**options: Any) -> httpx.Client:
    """A client of httpx with these options; nothing is sent yet.

    It reads HTTP_PROXY, HTTPS_PROXY and ALL_PROXY when it is made, whichever host is asked for later.

    Raises:
        ConfigError: one of them names a proxy that cannot be used.
    """
    try:
        return httpx.Client(**options)
    except ImportError as error:
        raise ConfigError(
            "The environment names a SOCKS proxy (HTTP_PROXY, HTTPS_PROXY or ALL_PROXY), which takes a package more: "
            "pip install 'httpx[socks]', or unset the variable. NO_PROXY does not help here."
        ) from error
    except (ValueError, httpx.InvalidURL) as error:
        if not getproxies():
            raise
        # Not in the library's words: a proxy's address may hold a password.
        raise ConfigError(
            "The proxy that the environment names (HTTP_PROXY, HTTPS_PROXY or ALL_PROXY) is no address of one: "
            "it must begin with http://, https:// or socks5://."
        ) from error
