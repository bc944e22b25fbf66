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
    "openai",
    "azure",
    "voyage",
    "cohere",
    "gemini",
    "vllm",
    "tei",
    "infinity",
    "litellm",
    "lmstudio",
    "ollama",
]
LOCAL_PRESETS = ("azure", "vllm", "tei", "infinity", "litellm", "lmstudio", "ollama")
"""Presets of servers whose address only their owner knows."""

Form: TypeAlias = Literal["int8", "bits"]
TooLong: TypeAlias = Literal["split", "truncate", "error"]


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    also_store: tuple[Form, ...] = Field(
        default=(),
        description="Forms of each vector to store besides float32: `int8` in `embedding_int8`, `bits` in "
        "`embedding_bits`.",
    )


_THREADS = (
    "Texts that one worker process computes at a time, a core each; the vectors stay the same. "
    "Default: the process's share of the cores."
)
_DOCUMENT_PREFIX = "Put before each text, as `passage: `."
_QUERY_PREFIX = "Put before each question, as `query: `."
_SHORTENED = "Keep the first numbers of each vector, for models that were trained for that (Matryoshka). Default: all."
_TOO_LONG = "A text over the model's input: the mean of its parts, its beginning, or a refusal."
_TOKENIZER = (
    "The model's `tokenizer.json`. Without it every UTF-8 byte counts as a token, which is never too few."
)


class StaticSettings(_Keys):
    """The model in the package: one vector a word piece, averaged. English, fast, no network."""

    kind: Literal["static"] = "static"


class MiniLMSettings(_Keys):
    """all-MiniLM-L6-v2, with the extra `minilm`: English, good retrieval, about a thousand times slower."""

    kind: Literal["minilm"] = "minilm"
    threads: Annotated[int, Field(ge=1, le=256)] | None = Field(default=None, description=_THREADS)


class OnnxSettings(_Keys):
    """Any sentence-transformers model exported as ONNX, in a folder of this machine; extra `minilm`."""

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
    document_prefix: str = Field(default="", description=_DOCUMENT_PREFIX)
    query_prefix: str = Field(default="", description=_QUERY_PREFIX)
    dimension: Annotated[int, Field(ge=1)] | None = Field(default=None, description=_SHORTENED)
    threads: Annotated[int, Field(ge=1, le=256)] | None = Field(default=None, description=_THREADS)


class SentenceTransformersSettings(_Keys):
    """Any model of the library sentence-transformers, for workers with a GPU; extra `sentence-transformers`.

    The library must be installed on the workers with a PyTorch that fits their GPUs.
    """

    kind: Literal["sentence-transformers"] = "sentence-transformers"
    model: str = Field(min_length=1, description="Name on the Hugging Face Hub, or a folder.")
    revision: str | None = Field(
        default=None, description="Commit of the model: without one its vectors may change unseen."
    )
    device: str | None = Field(default=None, description="As `cuda`; default: what the library finds.")
    batch_items: Annotated[int, Field(ge=1)] = Field(default=64, description="Texts in one batch.")
    document_prefix: str = Field(default="", description=_DOCUMENT_PREFIX)
    query_prefix: str = Field(default="", description=_QUERY_PREFIX)
    dimension: Annotated[int, Field(ge=1)] | None = Field(default=None, description=_SHORTENED)
    normalise: bool = Field(default=True, description="Scale vectors to length 1.")
    too_long: TooLong = Field(default="split", description=_TOO_LONG)


class BeamSettings(_Keys):
    """Whatever Apache Beam can embed with: an `EmbeddingsManager` or a `ModelHandler` of yours."""

    kind: Literal["beam"] = "beam"
    handler: str = Field(
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$",
        description="`module:name` of the manager or handler, or of a function that makes it.",
    )
    model: str = Field(
        min_length=1, description="Name and version of what it does: other vectors, another name."
    )
    dimension: Annotated[int, Field(ge=1, le=65536)] = Field(description="Length of its vectors.")
    max_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="The model's input in tokens of `tokenizer`; default: no bound."
    )
    tokenizer: str | None = Field(default=None, description=_TOKENIZER)
    batch_items: Annotated[int, Field(ge=1)] = Field(default=64, description="Texts in one batch.")
    document_prefix: str = Field(default="", description=_DOCUMENT_PREFIX)
    query_prefix: str = Field(default="", description=_QUERY_PREFIX)
    normalise: bool = Field(default=False, description="Scale vectors to length 1.")
    too_long: TooLong = Field(default="split", description=_TOO_LONG)


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


class ServerSettings(_Keys):
    """What all servers have in common. A limit that is set here wins over the preset's."""

    model: str = Field(min_length=1, description="The model's name, as the server knows it.")
    dimension: Annotated[int, Field(ge=1, le=65536)] = Field(description="Length of the table's vectors.")
    ask_dimension: bool = Field(
        default=False, description="Ask the server for vectors of `dimension`, for models that can."
    )
    model_dimension: Annotated[int, Field(ge=1, le=65536)] | None = Field(
        default=None,
        description="Length of the vectors as the server gives them; of longer ones the first `dimension` "
        "numbers are kept (Matryoshka models only).",
    )
    normalise: bool = Field(default=False, description="Scale vectors to length 1.")
    tokenizer: str | None = Field(default=None, description=_TOKENIZER)
    max_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="The model's input in tokens; default: the preset's."
    )
    too_long: TooLong = Field(default="split", description=_TOO_LONG)
    document_prefix: str = Field(default="", description=_DOCUMENT_PREFIX)
    query_prefix: str = Field(default="", description=_QUERY_PREFIX)
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
        default=None, description="Quota of the whole job: each worker process keeps to its part."
    )
    tokens_per_minute: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="Quota of the whole job: each worker process keeps to its part."
    )
    price_per_million_tokens: Annotated[float, Field(ge=0)] | None = Field(
        default=None, description="What `limits.max_cost` counts with; default: the model's list price."
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
    base_url: str | None = Field(
        default=None, description="The API's address; default: the provider's own."
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
    def _dimensions_agree(self) -> Self:
        if self.model_dimension is None:
            return self
        if self.ask_dimension:
            raise ValueError(
                "ask_dimension and model_dimension exclude each other: who shortens the vectors?"
            )
        if self.model_dimension < self.dimension:
            raise ValueError(f"model_dimension is less than the dimension {self.dimension}")
        return self


class OpenAISettings(ServerSettings):
    """A server with OpenAI's interface for embeddings, or a provider that `preset` knows.

    `preset` holds a provider's limits and the names of its parameters.
    """

    kind: Literal["openai"] = "openai"
    preset: Preset = Field(default="openai", description="Whose limits and parameters to keep to.")
    api_key_env: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="Environment variable that holds the key; the key itself is never configured.",
    )

    @model_validator(mode="after")
    def _has_an_address(self) -> Self:
        if self.base_url is None and self.preset in LOCAL_PRESETS:
            raise ValueError(f"the preset {self.preset} needs a base_url")
        return self


class VertexSettings(ServerSettings):
    """Text and Gemini models on Vertex AI, as the identity that Google's libraries find; extra `vertex`."""

    kind: Literal["vertex"] = "vertex"
    project: str = Field(min_length=1, description="Google Cloud project.")
    location: str = Field(default="us-central1", min_length=1, description="Region, or `global`.")


class BedrockSettings(ServerSettings):
    """Titan and Cohere models on Amazon Bedrock, as the identity that boto3 finds; extra `bedrock`."""

    kind: Literal["bedrock"] = "bedrock"
    region: str = Field(min_length=1, description="AWS region.")


EmbedderSettings: TypeAlias = Annotated[
    StaticSettings
    | MiniLMSettings
    | OnnxSettings
    | SentenceTransformersSettings
    | OpenAISettings
    | VertexSettings
    | BedrockSettings
    | BeamSettings
    | HashSettings,
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
