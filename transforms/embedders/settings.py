"""The keys of ``embedder:`` in a configuration: which model, and what can be set on it.

One class a kind, told apart by ``kind``; a class imports nothing of its model, so that reading a
configuration costs nothing.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


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


EmbedderSettings: TypeAlias = Annotated[
    StaticSettings | MiniLMSettings | OnnxSettings | HashSettings, Field(discriminator="kind")
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
    return _ADAPTER.dump_json(settings).decode()
