"""Text and Gemini models on Vertex AI, as the identity that Google's libraries find where it runs."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx

from transforms.embedders.client import connect, server_recipe
from transforms.embedders.presets import VERTEX, VERTEX_CONTENT, with_settings
from transforms.embedders.share import ALONE, Share
from transforms.model.errors import ConfigError, ParquetryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.embedders.client import ServerEmbedder
    from transforms.embedders.presets import Limits
    from transforms.embedders.settings import VertexSettings

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_CONTENT_MODELS = "gemini-embedding-2"


def build(settings: VertexSettings, share: Share = ALONE) -> ServerEmbedder:
    """A client for the model; nothing is sent yet.

    Raises:
        ConfigError: google-auth is not installed, or finds no identity here.
    """
    path = f"projects/{quote(settings.project)}/locations/{quote(settings.location)}"
    path += f"/publishers/google/models/{quote(settings.model)}"
    return connect(settings, limits_of(settings), share, auth=GoogleAuth(), path=path)


def recipe(settings: VertexSettings) -> str:
    return server_recipe(settings, limits_of(settings))


def limits_of(settings: VertexSettings) -> Limits:
    """Of the model, with what the settings override."""
    host = "aiplatform" if settings.location == "global" else f"{settings.location}-aiplatform"
    provider = VERTEX_CONTENT if settings.model.startswith(_CONTENT_MODELS) else VERTEX
    return with_settings(replace(provider, base_url=f"https://{host}.googleapis.com/v1"), settings)


class GoogleAuth(httpx.Auth):
    """Signs requests with a token of the machine's or the person's identity, renewed before it ends."""

    def __init__(self) -> None:
        try:
            import google.auth
            import google.auth.exceptions
            import google.auth.transport.requests
        except ImportError as error:
            raise ConfigError(
                "The embedder `vertex` needs google-auth, which is not installed: "
                "pip install 'parquetry[vertex]'."
            ) from error
        try:
            self._credentials: Any = google.auth.default(scopes=[_SCOPE])[0]
        except google.auth.exceptions.DefaultCredentialsError as error:
            raise ConfigError(
                "The embedder `vertex` finds no Google identity here: run on Google Cloud, set "
                "GOOGLE_APPLICATION_CREDENTIALS, or log in with `gcloud auth application-default login`."
            ) from error
        self._failures = google.auth.exceptions.GoogleAuthError
        self._transport = google.auth.transport.requests.Request
        self._lock = threading.Lock()

    def auth_flow(self, request: httpx.Request) -> Iterator[httpx.Request]:  # type: ignore[override]
        with self._lock:
            if not self._credentials.valid:
                self._renew()
            request.headers["Authorization"] = f"Bearer {self._credentials.token}"
        yield request

    def _renew(self) -> None:
        import requests

        try:
            with requests.Session() as session:
                self._credentials.refresh(self._transport(session))
        except self._failures as error:
            raise ParquetryError(
                f"Google gives no token for this identity: {type(error).__name__}. "
                "What was done is kept; run the same command again once it does."
            ) from error
