"""Cut Parquet: its row groups are read by themselves, and its footer says where each lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from transforms.extractors.parquet_file import columns_of, group_span, row_values
from transforms.extractors.pieces import NotCutError, Piece
from transforms.extractors.records import Record, record_name
from transforms.extractors.settled_names import Wishes, numbered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from transforms.extractors.settings import ExtractSettings

_FOOTER = 8
"""Bytes at the end of a file: how long the metadata before them are, and a mark."""
_BATCH = 4096


def cut_groups(file: BinaryIO, settings: ExtractSettings, size: int) -> list[Piece]:
    """Pieces of about ``size`` bytes, and of one row group at least, each with the footer behind it.

    Raises:
        NotCutError: the file cannot be read.
    """
    try:
        file.seek(0)
        parquet = pq.ParquetFile(file)
        end = file.seek(0, 2)
        file.seek(end - _FOOTER)
        footer = end - _FOOTER - int.from_bytes(file.read(4), "little")
        return [*_pieces(parquet, (footer, end), settings, size)]
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError) as error:
        raise NotCutError from error


def _pieces(
    parquet: pq.ParquetFile, footer: tuple[int, int], settings: ExtractSettings, size: int
) -> Iterator[Piece]:
    before = 0
    for groups in _runs(parquet.metadata, size):
        rows = sum(parquet.metadata.row_group(group).num_rows for group in groups)
        spans = [group_span(parquet.metadata.row_group(group)) for group in groups]
        own = (min(start for start, _ in spans), max(end for _, end in spans))
        yield Piece((own, footer), before, _wishes(parquet, groups, before, rows, settings))
        before += rows


def _runs(metadata: pq.FileMetaData, size: int) -> Iterator[list[int]]:
    """Row groups that are read together."""
    run: list[int] = []
    held = 0
    for group in range(metadata.num_row_groups):
        run.append(group)
        start, end = group_span(metadata.row_group(group))
        held += end - start
        if held >= size:
            yield run
            run, held = [], 0
    if run:
        yield run


def _wishes(
    parquet: pq.ParquetFile, groups: Sequence[int], before: int, rows: int, settings: ExtractSettings
) -> Wishes:
    field = settings.records.id
    columns = [] if field is None else columns_of(parquet, [field])
    if not columns:
        return numbered(before, rows)
    values = (
        value
        for batch in parquet.iter_batches(_BATCH, row_groups=[*groups], columns=columns)
        for value in row_values(batch)
    )
    names = [
        record_name(Record(number, value), settings.records)
        for number, value in enumerate(values, before + 1)
    ]
    return Wishes(pa.array(names, pa.string()), np.arange(before + 1, before + rows + 1))
