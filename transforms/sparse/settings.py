"""The keys of ``sparse:`` in a configuration: which sparse vectors stand beside the dense ones.

One class a kind, told apart by ``kind``; a class imports nothing of its encoder, so that reading a
configuration costs nothing.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Language: TypeAlias = Literal[
    "arabic",
    "armenian",
    "basque",
    "catalan",
    "czech",
    "danish",
    "dutch",
    "english",
    "esperanto",
    "estonian",
    "finnish",
    "french",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "lithuanian",
    "nepali",
    "norwegian",
    "persian",
    "polish",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
]
"""Languages that Snowball has a stemmer for."""


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NoSparseSettings(_Keys):
    """No sparse vectors: both columns are null."""

    kind: Literal["none"] = "none"


class BM25Settings(_Keys):
    """The term part of BM25 over words and identifiers; no model, any language."""

    kind: Literal["bm25"] = "bm25"
    k1: Annotated[float, Field(gt=0, le=10)] = Field(
        default=1.2, description="How fast further occurrences of a term in one text count less."
    )
    b: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.75, description="How much a text's length counts: 0 not at all, 1 in full."
    )
    average: Annotated[float, Field(ge=1)] = Field(
        default=180,
        description="Terms of a text of average length. It is fixed, so that no row depends on another.",
    )
    languages: tuple[Language, ...] = Field(
        default=("english", "russian", "greek", "arabic", "hindi", "tamil", "armenian"),
        description="Whose endings are cut off: a word is stemmed for each of these that is written in its "
        "script, and found by any of the stems. None: words stay as they are.",
    )
    stop_words: tuple[str, ...] = Field(default=(), description="Words that are left out.")


class SpladeSettings(_Keys):
    """A SPLADE model exported as ONNX, in a folder of this machine; extra `minilm`."""

    kind: Literal["splade"] = "splade"
    model_path: str = Field(
        min_length=1, description="Folder with `tokenizer.json` and `model.onnx` (or `onnx/model.onnx`)."
    )
    max_tokens: Annotated[int, Field(ge=8)] = Field(
        description="The model's input in tokens, its special ones included; longer texts go in parts."
    )
    threads: Annotated[int, Field(ge=1, le=256)] | None = Field(
        default=None,
        description="Texts that one worker process computes at a time, a core each. Default: the process's share "
        "of the cores.",
    )


SparseSettings: TypeAlias = Annotated[
    BM25Settings | SpladeSettings | NoSparseSettings, Field(discriminator="kind")
]
NO_SPARSE = NoSparseSettings()

_ADAPTER: TypeAdapter[SparseSettings] = TypeAdapter(SparseSettings)


def settings_from_json(text: str) -> SparseSettings:
    """The settings that :func:`settings_to_json` wrote down.

    Raises:
        pydantic.ValidationError: the text is not of this program, or of a later version of it.
    """
    return _ADAPTER.validate_json(text)


def settings_to_json(settings: SparseSettings) -> str:
    """The settings on one line, for a table's manifest."""
    return json.dumps(settings.model_dump(mode="json"), sort_keys=True)
