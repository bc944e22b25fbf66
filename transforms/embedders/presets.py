"""What each provider allows, what it calls its parameters, and what its models cost.

The figures are from the providers' documentation, 2026; any can be overridden in the settings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transforms.embedders.protocol import Task
    from transforms.embedders.settings import ServerSettings


@dataclass(frozen=True, slots=True)
class TaskNames:
    """What a provider calls the two sides of a search."""

    document: str
    query: str

    def of(self, task: Task) -> str:
        return self.document if task == "document" else self.query


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
    dialect: str = "openai"
    """How requests and answers are written: a name in ``dialects``."""
    task_field: str | None = None
    """Parameter that says whether texts are documents or queries."""
    tasks: TaskNames = TaskNames("document", "query")
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
_GOOGLE_TASKS = TaskNames("RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY")
_COHERE_TASKS = TaskNames("search_document", "search_query")

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
    "cohere": Limits(
        items=96,
        item_tokens=128_000,
        base_url="https://api.cohere.com/v2",
        key_env="COHERE_API_KEY",
        dialect="cohere",
        task_field="input_type",
        tasks=_COHERE_TASKS,
        dimension_field="output_dimension",
        base64=False,
    ),
    "gemini": Limits(
        items=100,
        item_tokens=2048,
        base_url="https://generativelanguage.googleapis.com/v1beta",
        key_env="GEMINI_API_KEY",
        key_header="x-goog-api-key",
        dialect="gemini",
        task_field="taskType",
        tasks=_GOOGLE_TASKS,
        dimension_field="outputDimensionality",
        base64=False,
    ),
    "vllm": _OWN_SERVER,
    "tei": replace(_OWN_SERVER, items=32, bytes=2_000_000),
    "infinity": _OWN_SERVER,
    "litellm": _OWN_SERVER,
    "lmstudio": replace(_OWN_SERVER, concurrency=1),
    "ollama": replace(_OWN_SERVER, concurrency=1),
}

VERTEX = Limits(
    items=250,
    item_tokens=2048,
    tokens=20_000,
    dialect="vertex",
    task_field="task_type",
    tasks=_GOOGLE_TASKS,
    dimension_field="outputDimensionality",
    base64=False,
)
VERTEX_CONTENT = replace(VERTEX, items=1, item_tokens=8192, tokens=None, dialect="content", task_field=None)
"""Gemini's newer models: one text a request, and the task is told in the text, by a prefix."""

TITAN = Limits(items=1, item_tokens=8192, dialect="titan", base64=False)
BEDROCK_COHERE = Limits(
    items=96,
    item_tokens=512,
    dialect="bedrock-cohere",
    task_field="input_type",
    tasks=_COHERE_TASKS,
    dimension_field="output_dimension",
    base64=False,
)

PRICES = {
    "text-embedding-3-small": 0.02,
    "text-embedding-3-large": 0.13,
    "text-embedding-ada-002": 0.10,
    "voyage-3.5": 0.06,
    "voyage-3.5-lite": 0.02,
    "voyage-3-large": 0.18,
    "voyage-code-3": 0.18,
    "embed-v4.0": 0.12,
    "embed-english-v3.0": 0.10,
    "embed-multilingual-v3.0": 0.10,
    "gemini-embedding-001": 0.15,
    "amazon.titan-embed-text-v2:0": 0.02,
}
"""US dollars for a million tokens, list prices of 2026: they change, and yours may differ."""


def with_settings(provider: Limits, settings: ServerSettings) -> Limits:
    """The provider's limits with what the settings override."""
    return replace(
        provider,
        items=settings.max_items or provider.items,
        item_tokens=settings.max_tokens or provider.item_tokens,
        tokens=settings.max_request_tokens or provider.tokens,
        bytes=settings.max_request_bytes or provider.bytes,
        concurrency=settings.max_concurrency or provider.concurrency,
        base_url=settings.base_url or provider.base_url,
    )


def price_of(settings: ServerSettings) -> float | None:
    """US dollars for a million tokens, as configured or listed; None where neither says."""
    if settings.price_per_million_tokens is not None:
        return settings.price_per_million_tokens
    return PRICES.get(settings.model)
