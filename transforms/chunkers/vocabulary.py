"""Read the names that entities are looked for by, where the settings name a file of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from transforms.chunkers.files import read_file
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from transforms.chunkers.settings import ChunkSettings


def with_vocabulary(settings: ChunkSettings) -> ChunkSettings:
    """The settings with the names themselves, so that a changed list is a changed recipe.

    A file is UTF-8, a name a line; blank lines and lines that begin with ``#`` are none.

    Raises:
        ConfigError: the file cannot be read or holds a name twice.
    """
    chosen = settings.entities
    if chosen is None or not isinstance(chosen.vocabulary, str):
        return settings
    file = chosen.vocabulary
    try:
        lines = read_file(file).decode("utf-8-sig").splitlines()
        names = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
        entities = type(chosen).model_validate({**chosen.model_dump(), "vocabulary": names})
    except UnicodeDecodeError as error:
        raise ConfigError(f"entities.vocabulary: {file} is no UTF-8: {error}") from error
    except ValidationError as error:
        said = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ConfigError(f"entities.vocabulary: {file}: {said}") from error
    return settings.model_copy(update={"entities": entities})
