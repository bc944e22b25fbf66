"""How each provider wants a request written, and where its answer has the vectors."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from transforms.embedders.presets import Limits
    from transforms.embedders.protocol import Task

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of a server, whatever its dialect."""

    model: str
    texts: Sequence[str]
    task: Task
    dimension: int | None
    """Length that the server is asked to give its vectors; None: the model's own."""
    base64: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What an answer holds: vectors and the places of their texts in the request."""

    places: list[int]
    rows: list[NDArray[np.float32]]
    usage: int | None
    """Tokens as the server counts them."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """``path`` is below the base URL; ``found`` raises what reading JSON of another shape raises."""

    path: Callable[[str], str]
    """Of a model."""
    body: Callable[[Wish, Limits], Json]
    found: Callable[[Json], Found]


def _openai_body(wish: Wish, limits: Limits) -> Json:
    body: Json = {"model": wish.model, "input": list(wish.texts)}
    if wish.base64:
        body["encoding_format"] = "base64"
    return body | _options(wish, limits)


def _openai_found(content: Json) -> Found:
    data = content["data"]
    usage = content.get("usage")
    tokens = (usage.get("prompt_tokens") or usage.get("total_tokens")) if isinstance(usage, dict) else None
    # Servers that leave out zeros leave out the first place.
    places = [item.get("index", 0) for item in data]
    return Found(places, [vector(item["embedding"]) for item in data], tokens)


def _cohere_body(wish: Wish, limits: Limits) -> Json:
    body: Json = {"texts": list(wish.texts), "embedding_types": ["float"], "truncate": "NONE"}
    return body | _options(wish, limits)


def _cohere_found(content: Json) -> Found:
    units = (content.get("meta") or {}).get("billed_units") or {}
    return _in_order(content["embeddings"]["float"], units.get("input_tokens"))


def _gemini_body(wish: Wish, limits: Limits) -> Json:
    model, options = f"models/{wish.model}", _options(wish, limits)
    return {"requests": [{"model": model, "content": _content(text), **options} for text in wish.texts]}


def _gemini_found(content: Json) -> Found:
    return _in_order([item["values"] for item in content["embeddings"]], None)


def _vertex_body(wish: Wish, limits: Limits) -> Json:
    options = _options(wish, limits)
    task = {limits.task_field: options.pop(limits.task_field)} if limits.task_field else {}
    instances = [{"content": text, **task} for text in wish.texts]
    return {"instances": instances, "parameters": {"autoTruncate": False, **options}}


def _vertex_found(content: Json) -> Found:
    found = [item["embeddings"] for item in content["predictions"]]
    tokens = sum(int((item.get("statistics") or {}).get("token_count", 0)) for item in found)
    return _in_order([item["values"] for item in found], tokens)


def _content_body(wish: Wish, limits: Limits) -> Json:
    (text,) = wish.texts
    return {"content": _content(text), "autoTruncate": False, **_options(wish, limits)}


def _content_found(content: Json) -> Found:
    usage = (content.get("usageMetadata") or {}).get("promptTokenCount")
    return _in_order([content["embedding"]["values"]], usage)


def _titan_body(wish: Wish, limits: Limits) -> Json:
    (text,) = wish.texts
    return {"inputText": text, **_options(wish, limits)}


def _titan_found(content: Json) -> Found:
    return _in_order([content["embedding"]], content.get("inputTextTokenCount"))


def _options(wish: Wish, limits: Limits) -> Json:
    """The dimension and the task, under the provider's names."""
    options: Json = {}
    if wish.dimension is not None:
        options[limits.dimension_field] = wish.dimension
    if limits.task_field:
        options[limits.task_field] = limits.tasks.of(wish.task)
    return options


def _content(text: str) -> Json:
    return {"parts": [{"text": text}]}


def _in_order(vectors: Sequence[Any], usage: int | None) -> Found:
    rows = [vector(value) for value in vectors]
    return Found(list(range(len(rows))), rows, usage)


def _invoke(model: str) -> str:
    return f"/model/{quote(model, safe='')}/invoke"


def vector(value: str | list[float]) -> NDArray[np.float32]:
    """A vector, from numbers or from base64 of little-endian float32."""
    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").astype(np.float32)
    with np.errstate(over="ignore"):
        return np.array(value, dtype=np.float64).astype(np.float32)


DIALECTS = {
    "openai": Dialect(lambda _: "/embeddings", _openai_body, _openai_found),
    "cohere": Dialect(
        lambda _: "/embed",
        lambda wish, limits: {"model": wish.model, **_cohere_body(wish, limits)},
        _cohere_found,
    ),
    "gemini": Dialect(
        lambda model: f"/models/{quote(model, safe='')}:batchEmbedContents", _gemini_body, _gemini_found
    ),
    "vertex": Dialect(lambda model: f"/{model}:predict", _vertex_body, _vertex_found),
    "content": Dialect(lambda model: f"/{model}:embedContent", _content_body, _content_found),
    "titan": Dialect(_invoke, _titan_body, _titan_found),
    "bedrock-cohere": Dialect(_invoke, _cohere_body, _cohere_found),
}
