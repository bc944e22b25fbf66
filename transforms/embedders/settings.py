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


EmbedderSettings: TypeAlias = Annotated[StaticSettings | HashSettings, Field(discriminator="kind")]

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
