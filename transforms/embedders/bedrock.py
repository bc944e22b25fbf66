"""Titan and Cohere models on Amazon Bedrock, as the identity that boto3 finds where it runs.

Only the signature is botocore's: requests go the way of all servers, with one policy of repeating them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx

from transforms.embedders.client import connect, server_recipe
from transforms.embedders.presets import BEDROCK_COHERE, TITAN, with_settings
from transforms.embedders.share import ALONE, Share
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.embedders.client import ServerEmbedder
    from transforms.embedders.presets import Limits
    from transforms.embedders.settings import BedrockSettings


def build(settings: BedrockSettings, share: Share = ALONE) -> ServerEmbedder:
    """A client for the model; nothing is sent yet.

    Raises:
        ConfigError: botocore is not installed, or finds no identity here.
    """
    return connect(settings, limits_of(settings), share, auth=AwsAuth(settings.region))


def recipe(settings: BedrockSettings) -> str:
    return server_recipe(settings, limits_of(settings))


def limits_of(settings: BedrockSettings) -> Limits:
    """Of the model's maker, with what the settings override."""
    provider = BEDROCK_COHERE if "cohere." in settings.model else TITAN
    url = f"https://bedrock-runtime.{settings.region}.amazonaws.com"
    return with_settings(replace(provider, base_url=url), settings)


class AwsAuth(httpx.Auth):
    """Signs requests (Signature Version 4) with the identity's keys, which botocore renews."""

    requires_request_body = True

    def __init__(self, region: str) -> None:
        try:
            import botocore.auth
            import botocore.awsrequest
            import botocore.session
        except ImportError as error:
            raise ConfigError(
                "The embedder `bedrock` needs boto3, which is not installed: pip install 'parquetry[bedrock]'."
            ) from error
        self._region = region
        self._credentials: Any = botocore.session.Session().get_credentials()
        if self._credentials is None:
            raise ConfigError(
                "The embedder `bedrock` finds no AWS identity here: run with a role, or set AWS_PROFILE or "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
            )
        self._request = botocore.awsrequest.AWSRequest
        self._signer = botocore.auth.SigV4Auth

    def auth_flow(self, request: httpx.Request) -> Iterator[httpx.Request]:  # type: ignore[override]
        signed = self._request(
            method=request.method,
            url=str(request.url),
            data=request.content,
            headers={"Content-Type": request.headers["Content-Type"], "Host": request.headers["Host"]},
        )
        self._signer(self._credentials.get_frozen_credentials(), "bedrock", self._region).add_auth(signed)
        request.headers.update(dict(signed.headers.items()))
        yield request
