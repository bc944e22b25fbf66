"""The keys of ``embedder:`` in a configuration: which model, and what can be set on it.

One class a kind, told apart by ``kind``; a class imports nothing of its model, so that reading a
configuration costs nothing.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator, model_validator

Preset: TypeAlias = Literal[
    "openai", "azure", "voyage", "gemini", "vllm", "tei", "infinity", "litellm", "lmstudio", "ollama"
]
LOCAL_PRESETS = ("azure", "vllm", "tei", "infinity", "litellm", "lmstudio", "ollama")
"""Presets of servers whose address only their owner knows."""


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StaticSettings(_Keys):
    """The model in the package: one vector a word piece, averaged. English, fast, no network."""

    kind: Literal["static"] = "static"


class MiniLMSettings(_Keys):
    """all-MiniLM-L6-v2, with the extra ``minilm``: English, good retrieval, about 200 times slower."""

    kind: Literal["minilm"] = "minilm"
    threads: Annotated[int, Field(ge=1, le=256)] = Field(
        default=1, description="Cores that one worker process computes on; the vectors stay the same."
    )


class OnnxSettings(_Keys):
    """Any sentence-transformers model exported as ONNX, in a folder of this machine; extra ``minilm``."""

    kind: Literal["onnx"] = "onnx"
    model_path: str = Field(
        min_length=1, description="Folder with `tokenizer.json` and `model.onnx` (or `onnx/model.onnx`)."
    )
    max_tokens: Annotated[int, Field(ge=8)] = Field(
        description="The model's input in tokens, its special ones included (`max_seq_length`)."
    )
    pooling: Literal["mean", "first"] = Field(
        default="mean", description="Mean of all tokens' vectors, or the first token's (`[CLS]`)."
    )
    document_prefix: str = Field(default="", description="Put before each text, as `passage: `.")
    query_prefix: str = Field(default="", description="Put before each question, as `query: `.")
    threads: Annotated[int, Field(ge=1, le=256)] = Field(
        default=1, description="Cores that one worker process computes on; the vectors stay the same."
    )


class HashSettings(_Keys):
    """No model at all: numbers from a hash of the text, for tests and for timing everything else.

    Equal texts get equal vectors and any other two are unrelated, so a search finds a text only by
    itself.
    """

    kind: Literal["hash"] = "hash"
    dimension: Annotated[int, Field(ge=2, le=4096)] = Field(
        default=64, description="Length of the vectors."
    )
    max_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Bound of the input, in tokens of four characters; none if left out."
    )


class OpenAISettings(_Keys):
    """A server with OpenAI's interface for embeddings, near or far.

    ``preset`` holds the limits of a provider; a limit that is set here wins over the preset's.
    """

    kind: Literal["openai"] = "openai"
    preset: Preset = Field(default="openai", description="Whose limits and parameters to keep to.")
    base_url: str | None = Field(
        default=None, description="The API's address up to `/v1`; default: the provider's own."
    )
    model: str = Field(min_length=1, description="The model's name, as the server knows it.")
    dimension: Annotated[int, Field(ge=1, le=65536)] = Field(description="Length of its vectors.")
    ask_dimension: bool = Field(
        default=False, description="Ask the server for vectors of `dimension`, for models that can."
    )
    api_key_env: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="Environment variable that holds the key; the key itself is never configured.",
    )
    tokenizer: str | None = Field(
        default=None,
        description="The model's `tokenizer.json`. Without it every UTF-8 byte counts as a token, "
        "which is never too few.",
    )
    max_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="The model's input in tokens; default: the preset's."
    )
    too_long: Literal["split", "truncate", "error"] = Field(
        default="split",
        description="A text over `max_tokens`: the mean of its parts, its beginning, or a refusal.",
    )
    document_prefix: str = Field(default="", description="Put before each text, as `passage: `.")
    query_prefix: str = Field(default="", description="Put before each question, as `query: `.")
    normalise: bool = Field(default=False, description="Scale vectors to length 1.")
    max_items: Annotated[int, Field(ge=1)] | None = Field(default=None, description="Texts a request.")
    max_request_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Tokens a request."
    )
    max_request_bytes: Annotated[int, Field(ge=1024)] | None = Field(
        default=None, description="Bytes of a request's body."
    )
    max_concurrency: Annotated[int, Field(ge=1, le=256)] | None = Field(
        default=None, description="Requests in flight from one process, at most; it begins with 2."
    )
    requests_per_minute: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="Quota of the whole job."
    )
    tokens_per_minute: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="Quota of the whole job."
    )
    workers: Annotated[int, Field(ge=1)] = Field(
        default=1, description="Processes that share the quotas and the budget: each keeps to its part."
    )
    budget_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="The run stops, to be resumed, before it sends more tokens than this."
    )
    on_drift: Literal["warn", "refuse", "ignore"] = Field(
        default="warn",
        description="What to do if the server gives a few of the table's texts other vectors than before.",
    )
    max_drift: Annotated[float, Field(ge=0, le=2)] = Field(
        default=0.01, description="Cosine distance up to which vectors count as the same."
    )
    timeout: Annotated[float, Field(gt=0)] = Field(default=60, description="Seconds for one answer.")
    deadline: Annotated[float, Field(gt=0)] = Field(
        default=600, description="Seconds for one request with all that it is repeated."
    )
    tries: Annotated[int, Field(ge=1)] = Field(
        default=6, description="Attempts at one request; being told to wait (429) costs none."
    )

    @field_validator("base_url")
    @classmethod
    def _holds_no_secret(cls, url: str | None) -> str | None:
        if url is None:
            return url
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("must begin with http:// or https:// and name a host")
        if parts.username or parts.password or parts.query:
            raise ValueError("must not hold a user, a password or a query: name the key in api_key_env")
        return url.rstrip("/")

    @model_validator(mode="after")
    def _has_an_address(self) -> Self:
        if self.base_url is None and self.preset in LOCAL_PRESETS:
            raise ValueError(f"the preset {self.preset} needs a base_url")
        return self


EmbedderSettings: TypeAlias = Annotated[
    StaticSettings | MiniLMSettings | OnnxSettings | OpenAISettings | HashSettings,
    Field(discriminator="kind"),
]

_ADAPTER: TypeAdapter[EmbedderSettings] = TypeAdapter(EmbedderSettings)


def settings_from_json(text: str) -> EmbedderSettings:
    """The settings that :func:`settings_to_json` wrote down.

    Raises:
        pydantic.ValidationError: the text is not of this program, or of a later version of it.
    """
    return _ADAPTER.validate_json(text)


def settings_to_json(settings: EmbedderSettings) -> str:
    """The settings on one line, for a table's manifest."""
    return json.dumps(settings.model_dump(mode="json"), sort_keys=True)
