"""The server that an address names: host, port, TLS, and secrets by the names of environment variables.

``qdrant://host:6333#pages``, ``opensearch://loader@search.example.org?tls=true&password_env=SEARCH_PASSWORD``. A secret
in the address itself is refused: addresses stand in configurations, histories of shells and lists of processes.
"""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

    from transforms.loaders.address import Address

_TLS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server listens, and who asks."""

    host: str
    port: int
    tls: bool
    user: str | None
    path: str
    """Below the host, without slashes around it."""
    options: Mapping[str, str]
    secret: str | None
    """The key, token or password of the environment."""

    @property
    def url(self) -> str:
        """Base URL of its HTTP interface, without a path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"


def is_server(address: Address) -> bool:
    """Whether the address names a host, where a store is in files otherwise: ``//host``, and not ``///path``."""
    return address.rest.startswith("//") and not address.rest.startswith("///")


def server_of(
    address: Address,
    port: int,
    secrets: Mapping[str, str],
    options: frozenset[str] = frozenset(),
    path: str = "",
) -> Server:
    """The server of an address.

    Args:
        address: as it was written.
        port: where none is given.
        secrets: options that name an environment variable with a secret, and the variable if they are not given.
        options: others that the store knows.
        path: what a path is, for stores that take one; empty: none is taken.

    Raises:
        ConfigError: it is malformed, holds a secret, or would send one in clear without saying so.
    """
    parts, found = _parts(address), _port(address)
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = sorted(set(given) - {"tls", *secrets, *options})
    if unknown:
        known = ", ".join(sorted({"tls", *secrets, *options}))
        raise ConfigError(f"{address.shown}: there is no option {unknown[0]}; there are {known}.")
    below = parts.path.strip("/")
    if below and not path:
        raise ConfigError(
            f"{address.shown}: nothing is known by a path. The collection stands behind #: "
            f"{address.scheme}://{parts.netloc}#{below}"
        )
    if given.get("tls", "true") not in _TLS:
        raise ConfigError(f"{address.shown}: tls is true or false.")
    secret = _secret(address, secrets, given)
    tls = _TLS[given["tls"]] if "tls" in given else found == 443
    if secret and not tls and "tls" not in given and not _is_loopback(parts.hostname or ""):
        raise ConfigError(
            f"{address.shown}: a secret would go there in clear. Add tls=true, or tls=false if that is meant."
        )
    kept = {name: value for name, value in given.items() if name in options}
    user = None if parts.username is None else unquote(parts.username)
    return Server(parts.hostname or "", found or port, tls, user, below, kept, secret)


def _parts(address: Address) -> SplitResult:
    parts = urlsplit(address.url)
    if not parts.hostname:
        raise ConfigError(f"{address.shown} names no host; write {address.scheme}://HOST:PORT#COLLECTION.")
    if parts.password is not None:
        raise ConfigError(
            f"{address.shown}: a password has no place in an address. Put it into an environment variable; "
            "the address may name which."
        )
    return parts


def _port(address: Address) -> int | None:
    try:
        return urlsplit(address.url).port
    except ValueError:
        raise ConfigError(f"{address.shown}: the port is no number between 0 and 65535.") from None


def _secret(address: Address, secrets: Mapping[str, str], given: Mapping[str, str]) -> str | None:
    """The first secret that there is; one that the address asks for by name must be there."""
    for option, variable in secrets.items():
        if option in given and not os.environ.get(given[option]):
            raise ConfigError(f"{address.shown}: the environment variable {given[option]} is not set.")
        value = os.environ.get(given.get(option, variable))
        if value and (option in given or not set(secrets) & set(given)):
            return value
    return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
