"""From rows of an inventory to rows of a listing: which columns say what, and which rows are objects of today."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

import pyarrow as pa
import pyarrow.compute as pc

from transforms.model.errors import StorageError
from transforms.planning.diff import LISTING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.planning.inventory.settings import InventoryColumns

_TOKENS = {"gs": ("generation",), "s3": ("etag",), "az": ("etag",), "abfss": ("etag",)}
_KNOWN = {
    "name": ("key", "name"),
    "size": ("size", "contentlength"),
    "checksum": ("md5hash", "contentmd5"),
    "modified": ("lastmodifieddate", "updated", "lastmodified"),
}
_BUCKET = ("bucket",)
_LATEST = ("islatest", "iscurrentversion")
_DELETED = ("isdeletemarker",)
_DELETED_AT = ("timedeleted",)


@dataclass(frozen=True, slots=True)
class Columns:
    """The name of each column that is there."""

    name: str
    size: str
    token: str
    checksum: str | None
    modified: str | None
    bucket: str | None
    latest: str | None
    deleted: str | None
    deleted_at: str | None

    @property
    def all(self) -> list[str]:
        """Those to read."""
        told = (self.checksum, self.modified, self.bucket, self.latest, self.deleted, self.deleted_at)
        every = (self.name, self.size, self.token, *told)
        return list(dict.fromkeys(column for column in every if column is not None))


def columns_of(present: Sequence[str], wanted: InventoryColumns, scheme: str, where: str) -> Columns:
    """Find the columns by their configured names, or by those that the services give them.

    Raises:
        StorageError: one is missing that is needed.
    """
    plain = {_plain(column): column for column in present}

    def known(names: Sequence[str]) -> str | None:
        return next((plain[name] for name in names if name in plain), None)

    def chosen(key: str, told: str | None, names: Sequence[str], *, needed: bool) -> str | None:
        found = known(names) if told is None else told if told in present else None
        if found is None and (needed or told is not None):
            looked = told if told is not None else " or ".join(names)
            raise StorageError(
                f"{where} has no column {looked} for the {key} of objects; its columns are {', '.join(present)}. "
                f"Add it to the inventory, or say under inventory.columns.{key} what it is called."
            )
        return found

    return Columns(
        name=str(chosen("name", wanted.name, _KNOWN["name"], needed=True)),
        size=str(chosen("size", wanted.size, _KNOWN["size"], needed=True)),
        token=str(chosen("token", wanted.token, _TOKENS[scheme], needed=True)),
        checksum=chosen("checksum", wanted.checksum, _KNOWN["checksum"], needed=False),
        modified=chosen("modified", wanted.modified, _KNOWN["modified"], needed=False),
        bucket=known(_BUCKET),
        latest=known(_LATEST),
        deleted=known(_DELETED),
        deleted_at=known(_DELETED_AT),
    )


def of_today(rows: pa.Table, columns: Columns) -> pa.Table:
    """Rows of versions that are neither deleted nor replaced."""
    for column, said in ((columns.latest, "true"), (columns.deleted, "false")):
        if column is not None:
            text = pc.utf8_lower(rows[column].cast(pa.string()))
            # Without versions a service leaves the columns empty.
            rows = rows.filter(
                pc.or_(pc.equal(pc.fill_null(text, ""), said), pc.equal(pc.fill_null(text, ""), ""))
            )
    if columns.deleted_at is not None:
        rows = rows.filter(pc.equal(pc.fill_null(rows[columns.deleted_at].cast(pa.string()), ""), ""))
    return rows


def decoded(names: pa.ChunkedArray) -> pa.ChunkedArray:
    """Names without their URL encoding: ``+`` is a space, because a real one is written ``%2B``."""
    encoded = pc.match_substring_regex(names, "[%+]")
    if not pc.any(encoded).as_py():
        return names
    changed = [unquote_plus(name, errors="strict") for name in names.filter(encoded).to_pylist()]
    return pc.replace_with_mask(
        names.combine_chunks(), encoded.combine_chunks(), pa.array(changed, pa.string())
    )


def listing_of(rows: pa.Table, columns: Columns, scheme: str, where: str) -> pa.Table:
    """The rows as a table of schema ``LISTING``; names are whole.

    Raises:
        StorageError: a value is missing or not of its kind.
    """
    try:
        token = _token(rows[columns.token].cast(pa.string()), scheme)
        arrays = {
            "object_name": rows[columns.name].cast(pa.string()),
            "size": rows[columns.size].cast(pa.int64()),
            "token": token,
            "checksum": _checksum(rows, columns, token, scheme),
            "modified": _seconds(rows, columns.modified),
        }
    except pa.ArrowInvalid as error:
        raise StorageError(f"{where} has a value that is none of its column: {error}.") from error
    for name in ("object_name", "size", "token"):
        if arrays[name].null_count or (name != "size" and pc.any(pc.equal(arrays[name], "")).as_py()):
            raise StorageError(
                f"{where} has a row without {name.replace('object_', '')}; it cannot be used."
            )
    return pa.table([arrays[field.name] for field in LISTING], schema=LISTING)


def _plain(column: str) -> str:
    return re.sub(r"[^a-z0-9]", "", column.lower())


def _token(tokens: pa.ChunkedArray, scheme: str) -> pa.ChunkedArray:
    """An ETag stands in quotes wherever a client meets it, and without them in an inventory."""
    if scheme == "gs":
        return tokens
    return pc.binary_join_element_wise('"', pc.utf8_trim(tokens, '"'), '"', "")


def _checksum(rows: pa.Table, columns: Columns, token: pa.ChunkedArray, scheme: str) -> pa.ChunkedArray:
    """As the store's own listing tells it."""
    if scheme == "s3":
        return pc.binary_join_element_wise("etag:", token, "")
    if columns.checksum is None:
        return pa.chunked_array([pa.repeat("", rows.num_rows)])
    sums = pc.fill_null(rows[columns.checksum].cast(pa.string()), "")
    return pc.if_else(pc.equal(sums, ""), "", pc.binary_join_element_wise("md5:", sums, ""))


def _seconds(rows: pa.Table, column: str | None) -> pa.ChunkedArray:
    if column is None:
        return pa.chunked_array([pa.nulls(rows.num_rows, pa.int64())])
    times = rows[column]
    if pa.types.is_integer(times.type):
        return times.cast(pa.int64())
    if pa.types.is_string(times.type):
        times = pc.if_else(pc.equal(times, ""), None, times)
        zone = pc.replace_substring_regex(times, r"(\.\d{1,9})?( UTC|Z|\+00:00)?$", "Z")
        times = pc.replace_substring(zone, " ", "T").cast(pa.timestamp("s", "UTC"))
    return times.cast(pa.timestamp("s", "UTC"), safe=False).cast(pa.int64())
