"""Servers with OpenAI's interface for embeddings, and the providers that a preset knows."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from transforms.embedders.client import connect, server_recipe
from transforms.embedders.presets import PRESETS, with_settings
from transforms.embedders.share import ALONE, Share
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from transforms.embedders.client import ServerEmbedder
    from transforms.embedders.presets import Limits
    from transforms.embedders.settings import OpenAISettings

_WITHOUT_TASKS = "gemini-embedding-2"
"""Models whose names begin so are told the task in the text, by a prefix."""


def build(settings: OpenAISettings, share: Share = ALONE) -> ServerEmbedder:
    """A client for the server; nothing is sent yet.

    Raises:
        ConfigError: the key's variable is not set, or the tokenizer cannot be read.
    """
    limits = limits_of(settings)
    return connect(settings, limits, share, headers=key_headers(limits))


def recipe(settings: OpenAISettings) -> str:
    return server_recipe(settings, limits_of(settings))


def limits_of(settings: OpenAISettings) -> Limits:
    """The preset's limits with what the settings override."""
    preset = PRESETS[settings.preset]
    if settings.model.startswith(_WITHOUT_TASKS):
        preset = replace(preset, task_field=None)
    limits = with_settings(preset, settings)
    return replace(limits, key_env=settings.api_key_env or limits.key_env)


def key_headers(limits: Limits) -> dict[str, str]:
    """The header with the key, read from the environment; none where none is needed."""
    if not limits.key_env:
        return {}
    key = os.environ.get(limits.key_env, "").strip()
    if not key:
        raise ConfigError(
            f"The embedder needs a key in the environment variable {limits.key_env}, which is not set."
        )
    bearer = "Bearer " if limits.key_header == "Authorization" else ""
    return {limits.key_header: f"{bearer}{key}"}
