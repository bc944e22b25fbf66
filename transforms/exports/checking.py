"""What validators share: reading a folder's files without trust, and comparing them with published rules.

A validator reads what is there and knows nothing of how it was written: any folder that was meant for the store can be
given to it. It says what is wrong as ``(rule, detail)``; where that is is added here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from transforms.exports.profile import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.storage.protocol import Store

_ROWS = 1024
Broken = tuple[str, str]
"""A rule and how it is broken."""
FaultsOf = Callable[[Any], Iterable[Broken]]


@dataclass(frozen=True, slots=True)
class Folder:
    """What a store would be pointed at: its files by name with their sizes, those of the export itself left out."""

    store: Store
    sizes: Mapping[str, int]

    def names(self, prefix: str = "", suffix: str = "") -> list[str]:
        """Names that begin and end so."""
        return [name for name in self.sizes if name.startswith(prefix) and name.endswith(suffix)]

    def strangers(self, layout: str, meaning: str) -> Iterator[Fault]:
        """Files whose names a regular expression does not match whole."""
        for name in self.sizes:
            if re.fullmatch(layout, name) is None:
                yield Fault(name, "layout", f"has no place here: {meaning}")

    def too_many(self, names: Sequence[str], most: int) -> Iterator[Fault]:
        """A fault if there are more files than the store takes."""
        if len(names) > most:
            yield Fault("", "files", f"{len(names):,} files are more than {most:,}")

    def too_large(self, name: str, most: int) -> Iterator[Fault]:
        """A fault if a file is larger than the store takes."""
        if self.sizes[name] > most:
            yield Fault(name, "file_size", f"{self.sizes[name]:,} bytes are more than {most:,}")

    def request(
        self, name: str, most_rows: int, records: Callable[[Any], Any], faults_of: FaultsOf
    ) -> Iterator[Fault]:
        """Faults of a file that is one request; ``records`` takes the list of them from its JSON."""
        value = json_value(self.store.read(name))
        found = None if isinstance(value, NotJson) else records(value)
        if isinstance(value, NotJson) or not isinstance(found, list):
            yield Fault(
                name, "json", f"is no such request{': ' + value.why if isinstance(value, NotJson) else ''}"
            )
            return
        if len(found) > most_rows:
            yield Fault(name, "rows", f"{len(found):,} records are more than {most_rows:,}")
        for number, record in enumerate(found, 1):
            yield from _placed(name, f"record {number:,}", faults_of(record))

    def lines(self, name: str, faults_of: FaultsOf) -> Iterator[Fault]:
        """Faults of a file with one JSON value a line."""
        with self.store.open(name) as opened:
            for number, line in enumerate(opened, 1):
                value = json_value(line)
                found = [("json", value.why)] if isinstance(value, NotJson) else faults_of(value)
                yield from _placed(name, f"line {number:,}", found)

    def schema(self, name: str) -> pa.Schema | None:
        """The columns of a Parquet file; None if it is none."""
        try:
            with self.store.open(name) as opened:
                return pq.read_schema(opened)
        except pa.ArrowInvalid:
            return None

    def rows(
        self, name: str, wanted: Mapping[str, pa.DataType], faults_of: FaultsOf, *, others: bool = False
    ) -> Iterator[Fault]:
        """Faults of a Parquet file: of its columns and, if these are right, of its rows as dictionaries."""
        try:
            with self.store.open(name) as opened:
                file = pq.ParquetFile(opened)
                faults = list(column_faults(file.schema_arrow, wanted, others=others))
                yield from _placed(name, "schema", faults)
                if not faults:
                    yield from _placed_rows(name, file.iter_batches(_ROWS, columns=list(wanted)), faults_of)
        except pa.ArrowInvalid as error:
            yield Fault(name, "parquet", f"is no Parquet file: {error}")


@dataclass(slots=True)
class Known:
    """What the records before have told: ids, none of which may come twice, and the length of vectors."""

    ids: set[str] = field(default_factory=set)
    dimension: int | None = None

    def id_faults(self, value: object, pattern: str, meaning: str) -> Iterator[Broken]:
        """An id must match and be new."""
        if not isinstance(value, str) or re.fullmatch(pattern, value, re.DOTALL) is None:
            yield "id", f"id {shown(value)} is not {meaning}"
        elif value in self.ids:
            yield "id_twice", f"id {shown(value)} is there twice"
        else:
            self.ids.add(value)

    def vector_faults(self, values: object, most: int) -> Iterator[Broken]:
        """A vector must be finite numbers, not zero throughout, as many as in the others, and not too many."""
        if not isinstance(values, list) or not values or not all(_is_finite(value) for value in values):
            yield "vector", f"the vector {shown(values)} is no list of finite numbers"
            return
        self.dimension = self.dimension or len(values)
        if len(values) > most:
            yield "vector", f"the vector has {len(values):,} numbers, more than {most:,}"
        if len(values) != self.dimension:
            yield "vector", f"the vector has {len(values):,} numbers, others {self.dimension:,}"
        if not any(values):
            yield "vector", "the vector is zero throughout"


def column_faults(
    schema: pa.Schema, wanted: Mapping[str, pa.DataType], *, others: bool
) -> Iterator[Broken]:
    """Columns that are missing or of another type, and, unless ``others`` may be there, those that are too many."""
    for column, kind in wanted.items():
        place = schema.get_field_index(column)
        if place < 0:
            yield "columns", f"column {column} is missing"
        elif not _same(schema.field(place).type, kind):
            yield "columns", f"column {column} is {schema.field(place).type}, not {kind}"
    if not others:
        for column in schema.names:
            if column not in wanted:
                yield "columns", f"column {column} is not known"


def flat_faults(metadata: object) -> Iterator[Broken]:
    """Metadata must be one flat object of strings, numbers, booleans and lists of strings, without null."""
    if not isinstance(metadata, dict):
        yield "metadata", f"metadata {shown(metadata)} is no JSON object"
        return
    for key, value in metadata.items():
        if value is None:
            yield "metadata", f"{shown(key)} is null"
        elif isinstance(value, dict):
            yield "metadata", f"{shown(key)} is an object"
        elif isinstance(value, list) and not all(isinstance(each, str) for each in value):
            yield "metadata", f"{shown(key)} is a list of other things than strings"


def size_faults(what: str, value: object, most: int) -> Iterator[Broken]:
    """A value must not have more bytes than this as compact JSON in UTF-8."""
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass"))
    if size > most:
        yield "size", f"{what} has {size:,} bytes, more than {most:,}"


@dataclass(frozen=True, slots=True)
class NotJson:
    """What stands in the place of a value that is none."""

    why: str


def json_value(data: bytes | str) -> Any:
    """The value of a JSON text, or :class:`NotJson`. NaN and Infinity are no JSON, nor is a key that comes twice."""
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        return json.loads(text, parse_constant=_refused, object_pairs_hook=_once)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        return NotJson(f"is no JSON: {error}")


def shown(value: object, most: int = 60) -> str:
    """A value for a message: in quotes, on one line, not longer than ``most`` characters."""
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _placed(name: str, where: str, broken: Iterable[Broken]) -> Iterator[Fault]:
    for rule, detail in broken:
        yield Fault(name, rule, f"{where}: {detail}")


def _placed_rows(name: str, batches: Iterable[pa.RecordBatch], faults_of: FaultsOf) -> Iterator[Fault]:
    first = 1
    for batch in batches:
        for number, row in enumerate(batch.to_pylist(), first):
            yield from _placed(name, f"row {number:,}", faults_of(row))
        first += batch.num_rows


def _same(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether two types are one but for names of list elements."""
    if pa.types.is_list(one) and pa.types.is_list(other):
        return _same(one.value_type, other.value_type)
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        pairs = zip(one, other, strict=False)
        return one.num_fields == other.num_fields and all(
            field.name == like.name and _same(field.type, like.type) for field, like in pairs
        )
    return bool(one == other)


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _refused(constant: str) -> object:
    raise ValueError(f"{constant} is no number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice in one object")
    return found
