"""The keys of the configuration that decide what is read out of an object."""

from __future__ import annotations

import codecs

from pydantic import BaseModel, ConfigDict, Field, field_validator


class ExtractSettings(BaseModel):
    """How a source's objects are read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    encoding: str | None = Field(
        default=None, description="Of text files; None: declared, else UTF-8, else guessed."
    )
    main_content: bool = Field(default=True, description="HTML: leave menus, headers and footers out.")
    max_pages: int = Field(default=20_000, ge=1, description="PDFs with more pages are rejected.")

    @field_validator("encoding")
    @classmethod
    def _known(cls, encoding: str | None) -> str | None:
        if encoding is not None:
            try:
                codecs.lookup(encoding)
            except LookupError:
                raise ValueError("is no encoding that Python knows, such as cp1252 or shift_jis") from None
        return encoding
