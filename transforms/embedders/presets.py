"""What each provider of an OpenAI-like interface allows, and what it calls its parameters.

The figures are from the providers' documentation, 2026; any can be overridden in the settings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transforms.embedders.settings import OpenAISettings


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one request, unless it says otherwise."""

    items: int
    item_tokens: int | None = None
    """Tokens of one text."""
    tokens: int | None = None
    bytes: int | None = None
    concurrency: int = 16
    base_url: str = ""
    key_env: str | None = None
    key_header: str = "Authorization"
    task_field: str | None = None
    """Parameter that says whether texts are documents or queries."""
    dimension_field: str = "dimensions"
    base64: bool = True
    """Vectors may be asked for as base64, a quarter of the bytes."""


_OPENAI = Limits(
    items=2048,
    item_tokens=8191,
    tokens=300_000,
    base_url="https://api.openai.com/v1",
    key_env="OPENAI_API_KEY",
)
_OWN_SERVER = Limits(items=256, concurrency=8)

PRESETS: dict[str, Limits] = {
    "openai": _OPENAI,
    "azure": replace(_OPENAI, base_url="", key_env="AZURE_OPENAI_API_KEY", key_header="api-key"),
    "voyage": Limits(
        items=1000,
        item_tokens=32_000,
        tokens=120_000,
        base_url="https://api.voyageai.com/v1",
        key_env="VOYAGE_API_KEY",
        task_field="input_type",
        dimension_field="output_dimension",
        base64=False,
    ),
    "gemini": Limits(
        items=100,
        item_tokens=2048,
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_env="GEMINI_API_KEY",
        base64=False,
    ),
    "vllm": _OWN_SERVER,
    "tei": replace(_OWN_SERVER, items=32, bytes=2_000_000),
    "infinity": _OWN_SERVER,
    "litellm": _OWN_SERVER,
    "lmstudio": replace(_OWN_SERVER, concurrency=1),
    "ollama": replace(_OWN_SERVER, concurrency=1),
}


def limits_of(settings: OpenAISettings) -> Limits:
    """The preset's limits with what the settings override."""
    limits = PRESETS[settings.preset]
    return replace(
        limits,
        items=settings.max_items or limits.items,
        item_tokens=settings.max_tokens or limits.item_tokens,
        tokens=settings.max_request_tokens or limits.tokens,
        bytes=settings.max_request_bytes or limits.bytes,
        concurrency=settings.max_concurrency or limits.concurrency,
        base_url=settings.base_url or limits.base_url,
        key_env=settings.api_key_env or limits.key_env,
    )
