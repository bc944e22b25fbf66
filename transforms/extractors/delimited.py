"""Reads CSV and TSV: a table of pipe rows, or a document a row. Cells are text as it is written.

The separator is the one that a first line ``sep=;`` tells, or that the header has most of, so that files of
countries where a number has a comma are read; in a table that is one document a title may stand above the header. Rows
that are longer than the header widen the table, and columns of one name are numbered; nothing is lost.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import Counter
from typing import TYPE_CHECKING, Literal

from transforms.extractors.charset import decode
from transforms.extractors.ranged_text import range_text
from transforms.extractors.records import RECORDS, Record, is_by_record, record_documents, with_warnings
from transforms.extractors.text import pipe_row
from transforms.model.document import Document, canonical_text
from transforms.model.errors import RejectedError
from transforms.structure.blocks import parse_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from transforms.extractors.extraction import Extraction
    from transforms.extractors.settings import ExtractSettings
    from transforms.model.objects import RecordRange

CSV, TSV = "text/csv", "text/tab-separated-values"
UNQUOTED = "quotes_ignored"
"""Warning: a quotation mark is never closed, so that none was taken for one."""
_EXCELS_SEPARATOR = re.compile(r"\A\n*sep=([\t !#-/:-@\[-`{-~])\n", re.IGNORECASE)
"""The line above the header by which Excel is told the separator."""
_QUOTED = re.compile(r'"[^"]*"')
_SEPARATORS = ",;\t|"
_SAMPLE = 65_536
_ROWS = 100
_NEARLY_ALL = 0.8
"""Share of the rows below a title that have as many separators."""


def extract_csv(
    data: bytes,
    name: str,  # noqa: ARG001
    settings: ExtractSettings,
    part: RecordRange | None = None,
) -> Document | Extraction:
    """The table of a CSV file; raises as :func:`extract_delimited`."""
    return extract_delimited(data, settings, CSV, part)


def extract_tsv(
    data: bytes,
    name: str,  # noqa: ARG001
    settings: ExtractSettings,
    part: RecordRange | None = None,
) -> Document | Extraction:
    """The table of a TSV file; raises as :func:`extract_delimited`."""
    return extract_delimited(data, settings, TSV, part)


def extract_delimited(
    data: bytes, settings: ExtractSettings, media_type: str, part: RecordRange | None
) -> Document | Extraction:
    """A document of the table, or one for each row below the header.

    In a pipe row a line break inside a cell becomes a space; in a document of its own it stays.

    Raises:
        RejectedError: ``corrupt`` or ``wrong_charset``.
    """
    if part is not None:
        text, warnings = range_text(data, settings.encoding, part)
        skipped, separator = separator_of(text, media_type)
        frame = _read(text[skipped:], separator, csv.QUOTE_MINIMAL, part.width)
    else:
        text, warnings = decode(data, settings.encoding)
        text = canonical_text(text)
        skipped, separator = separator_of(text, media_type)
        if media_type == CSV and not skipped and not is_by_record(settings, auto=False):
            separator = _separator_below_title(text[:_SAMPLE], separator)
        frame, more_warnings = _frame(text[skipped:], separator)
        warnings += more_warnings
    if is_by_record(settings, auto=False):
        records = _records(frame, 0 if part is None else part.before)
        found = record_documents(records, settings, media_type, by_record=True, part=part)
        return with_warnings(found, warnings)
    rows = [pipe_row(row) for row in frame.itertuples(index=False, name=None)]
    rows.insert(1, pipe_row(["---"] * frame.shape[1]))
    table = "\n".join(rows) + "\n"
    return Document(
        table,
        parse_blocks(table, "markdown"),
        media_type,
        "delimited/2",
        metadata={RECORDS: len(frame) - 1},
        warnings=warnings,
    )


def separator_of(text: str, media_type: str) -> tuple[int, str]:
    """Where the table begins in the text, and what separates its cells."""
    told = _EXCELS_SEPARATOR.match(text)
    if told:
        return told.end(), told[1]
    if media_type == TSV:
        return 0, "\t"
    header = _QUOTED.sub("", text.lstrip("\n").partition("\n")[0])
    return 0, max(_SEPARATORS, key=header.count)


def column_names(header: Sequence[str]) -> list[str]:
    """What the fields of a row are called: a column without a name by its place, the second ``a`` is ``a (2)``."""
    names: dict[str, None] = {}
    for number, stated in enumerate(header, 1):
        name = wanted = str(stated) or f"column {number}"
        again = 1
        while name in names:
            again += 1
            name = f"{wanted} ({again})"
        names[name] = None
    return list(names)


def _separator_below_title(sample: str, separator: str) -> str:
    """The separator of nearly all rows, where the first line's is in none of them: that line is a title then."""
    lines = [line for line in _QUOTED.sub("", sample).split("\n") if line.strip()]
    rows = lines[1 : _ROWS + 1]
    if len(rows) < 2 or sum(separator in row for row in rows) * 2 > len(rows):
        return separator
    for other in _SEPARATORS:
        count, share = Counter(row.count(other) for row in rows).most_common(1)[0]
        if count and share >= _NEARLY_ALL * len(rows):
            return other
    return separator


def _records(frame: pd.DataFrame, before: int) -> Iterator[Record]:
    header, *rows = frame.itertuples(index=False, name=None)
    names = column_names(header)
    for number, row in enumerate(rows, before + 1):
        yield Record(number, dict(zip(names, row, strict=True)))


def _frame(text: str, separator: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """All rows, the header being the first; as a last resort without a meaning of quotation marks."""
    import pandas as pd

    faults = (pd.errors.ParserError, csv.Error)
    try:
        return _read(text, separator, csv.QUOTE_MINIMAL, None), ()
    except pd.errors.EmptyDataError as error:
        raise RejectedError("empty", "The table has no cells.") from error
    except faults:
        # A row that is longer than the first, or a quotation mark that is never closed.
        pass
    try:
        return _read(text, separator, csv.QUOTE_MINIMAL, _width(text, separator, csv.QUOTE_MINIMAL)), ()
    except faults:
        pass
    try:
        return _read(text, separator, csv.QUOTE_NONE, _width(text, separator, csv.QUOTE_NONE)), (UNQUOTED,)
    except faults as error:
        raise RejectedError("corrupt", f"The table cannot be read: {error}.") from error


def _read(text: str, separator: str, quoting: Literal[0, 3], width: int | None) -> pd.DataFrame:
    import pandas as pd

    frame = pd.read_csv(
        io.StringIO(text),
        sep=separator,
        dtype=str,
        keep_default_na=False,
        header=None,
        quoting=quoting,
        names=None if width is None else range(width),
    )
    # Rows that are shorter than the widest have missing cells, whatever is set about them.
    return frame.fillna("")


def _width(text: str, separator: str, quoting: Literal[0, 3]) -> int:
    csv.field_size_limit(sys.maxsize)
    rows = csv.reader(io.StringIO(text), delimiter=separator, quoting=quoting, strict=True)
    return max(map(len, rows))
