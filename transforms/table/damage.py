"""What is said of a file of a table that is missing or damaged: which one, what is wrong, and what helps."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from transforms.model.errors import NotFoundError, TableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from transforms.storage.protocol import Store

NO_PARQUET = (pa.ArrowException, OSError, ValueError, KeyError)
"""What Arrow raises on a damaged file: OSError on compressed bytes that are none, ValueError on other columns."""
_LONGEST = 200


def damaged(store: Store, path: str, fault: str) -> TableError:
    """The error that names a file of a published snapshot; ``fault`` is the rest of a sentence about it."""
    return TableError(
        f"{store.uri(path)} {fault}. Put it back from a backup, send readers to another snapshot with "
        f"`parquetry rollback {store.root} --to N`, or name a new place in `table`, where a run makes "
        "everything again."
    )


@contextmanager
def opened(store: Store, path: str) -> Iterator[BinaryIO]:
    """A Parquet file of a published snapshot, open for the block, which reads it and nothing else.

    Raises:
        TableError: it is missing, or what is in it cannot be read.
    """
    try:
        with store.open(path) as file:
            yield file
    except NotFoundError as error:
        raise damaged(store, path, "is missing") from error
    except NO_PARQUET as error:
        raise damaged(store, path, f"is damaged: {_sentence(str(error))}") from error


def parquet_file(file: BinaryIO) -> pq.ParquetFile:
    """A Parquet file whose pages are held against their checksums when they are read."""
    return pq.ParquetFile(file, page_checksum_verification=True)


def read_parquet(file: BinaryIO, columns: Sequence[str] | None = None) -> pa.Table:
    """All rows of some columns, or of all; a column that is not there is left out."""
    return parquet_file(file).read(None if columns is None else list(columns))


def fault_of(error: ValueError) -> str:
    """What is wrong with a record that does not validate: the first of its faults, the rest of a sentence."""
    if not isinstance(error, ValidationError):
        return _sentence(str(error))
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    message = first["msg"].removeprefix("Value error, ")
    return _sentence(f"is damaged: {place}: {message}" if place else f"is damaged: {message}")


def _sentence(text: str) -> str:
    return " ".join(text.split())[:_LONGEST].rstrip(".")
