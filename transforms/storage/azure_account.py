"""Which account of Azure Storage a root is in, and by which right it is opened.

The variables are those of Azure's own command line: AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT
with AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or with neither: then it is the identity of this environment.
A root that names another account than they do is opened with that identity.
"""

from __future__ import annotations

import os
from typing import Any

from transforms.model.errors import ConfigError

_RETRIES = 8
_TIMEOUT = 60
_PIECE = 32 * 2**20
"""Bytes of one request for a part of a large blob."""


def open_service(root: str, account: str) -> Any:
    """A client of the account, or of that of the environment where the root names none.

    Raises:
        ConfigError: nothing says which account, or a package is missing, or a variable is not of its form.
    """
    try:
        from azure.identity import DefaultAzureCredential
        from azure.storage.blob import BlobServiceClient
    except ImportError as error:
        raise ConfigError(
            f"{root}: install parquetry[azure] to use {root.partition(':')[0]}://."
        ) from error
    connection = os.environ.get("AZURE_STORAGE_CONNECTION_STRING", "")
    own = _account_of(connection) or os.environ.get("AZURE_STORAGE_ACCOUNT", "")
    if not (account or own or connection):
        raise ConfigError(
            f"{root}: set AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING to say which account the "
            "container is in, or write abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER."
        )
    # One with a signature names its account by the address alone.
    if connection and (not account or account == own):
        try:
            return BlobServiceClient.from_connection_string(connection, **_settings())
        except ValueError:
            # The client's words would repeat it.
            raise ConfigError(
                f"{root}: AZURE_STORAGE_CONNECTION_STRING is not of the form "
                "DefaultEndpointsProtocol=https;AccountName=...;AccountKey=...; copy it anew from the portal."
            ) from None
    told = os.environ.get("AZURE_STORAGE_KEY") or os.environ.get("AZURE_STORAGE_SAS_TOKEN")
    right = told if told and account in {"", own} else DefaultAzureCredential()
    return BlobServiceClient(f"https://{account or own}.blob.core.windows.net", right, **_settings())


def _account_of(connection: str) -> str:
    """The account that a connection string names."""
    parts = (part.partition("=") for part in connection.split(";"))
    return next((value for key, _, value in parts if key.strip().lower() == "accountname"), "")


def _settings() -> dict[str, Any]:
    from azure.storage.blob import ExponentialRetry

    retries: dict[str, Any] = dict.fromkeys(
        ("retry_total", "retry_connect", "retry_read", "retry_status"), _RETRIES
    )
    return {
        # Some four minutes in all.
        "retry_policy": ExponentialRetry(1, 2, random_jitter_range=1, **retries),
        "raw_response_hook": _repeat_throttled,
        "connection_timeout": _TIMEOUT,
        "read_timeout": _TIMEOUT,
        "max_single_get_size": _PIECE,
        "max_chunk_get_size": _PIECE,
    }


def _repeat_throttled(response: Any) -> None:
    """Let the client repeat what it would not: it takes 429 for a mistake of the caller."""
    from azure.core.exceptions import HttpResponseError

    if response.http_response.status_code == 429:
        raise HttpResponseError(response=response.http_response)
