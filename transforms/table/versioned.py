"""Whether a record of the table was written by a newer program: asked before anything else of it."""

from __future__ import annotations

import json

from transforms.model.errors import NewerTableError
from transforms.table.schema import SCHEMA_VERSION


def check_version(data: bytes, uri: str) -> None:
    """Pass a JSON object of this schema version or an older one.

    Raises:
        ValueError: it is none; the text is the rest of a sentence about it.
        NewerTableError: a newer program wrote it, whatever else it holds.
    """
    try:
        record = json.loads(data)
        version = record["schema_version"]
        program = str(record.get("program", "a newer program"))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError("was not written by this program: it has no schema_version") from error
    if not isinstance(version, int):
        raise ValueError(f"was not written by this program: schema_version is {version!r}")  # noqa: TRY004
    if version > SCHEMA_VERSION:
        raise NewerTableError(
            f"{uri} was written by {program} with schema version {version}; this program knows "
            f"{SCHEMA_VERSION}. Upgrade it."
        )
