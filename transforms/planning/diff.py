"""Compare a listing with what the last snapshot knows: new, changed, to be redone, unchanged, gone.

Everything is arithmetic on columns; no Python object exists for an unchanged object. A part of a source, as
cut by :mod:`transforms.planning.partition`, is compared alone, and the parts are put together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from transforms.planning.redo import Redo, one_row_an_object
from transforms.planning.selection import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.planning.selection import Selection
    from transforms.stages.job import Recipe

Mask: TypeAlias = NDArray[np.bool_]

LISTING = pa.schema(
    [
        pa.field("object_name", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("token", pa.string(), nullable=False),
        pa.field("checksum", pa.string(), nullable=False),
        pa.field("modified", pa.int64()),
    ]
)
"""One row an object of the source, as :class:`~transforms.model.objects.ObjectInfo`."""

KNOWN = pa.schema(
    [
        pa.field("object_name", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("token", pa.string(), nullable=False),
        pa.field("checksum", pa.string(), nullable=False),
        pa.field("redo", pa.int8(), nullable=False),
        pa.field("chosen", pa.bool_(), nullable=False),
        pa.field("in_place", pa.bool_(), nullable=False),
        pa.field("shard", pa.string(), nullable=False),
    ]
)
"""One row for each object of the last snapshot and shard that has rows of it.

``redo`` is the stage from which it would be made again, ``chosen`` whether it is of the recipe that the run is about,
if it is about one, ``in_place`` where its ``doc_uri`` is that of today."""

RETRIED = ("unreadable", "changed_while_reading")
"""Reasons that say nothing of the object itself: such documents are tried again in every run."""


@dataclass(frozen=True, slots=True)
class Diff:
    """The outcome of the comparison. Tables are in name order; ``shard`` is null where an object is new."""

    reads: pa.Table
    """object_name, size, token, checksum, shard: new, changed, or to be extracted again."""
    touched: pa.Table
    """The same columns: another version, which the store says has the same bytes."""
    redo: pa.Table
    """object_name, size, shard: the same bytes, to be chunked or embedded again."""
    gone: pa.Table
    """object_name, size, token, checksum, shard."""
    kept_rejections: pa.Table
    shards: pa.Table
    """shard, objects, bytes and first name of each shard of the last snapshot."""
    spread: pa.Table
    """object_name, shard: all shards of each object that has rows in several."""
    listed: int
    new: int
    changed: int
    unchanged: int
    known_bytes: int
    """Of the objects in ``redo`` those of which every vector is known."""


def compare(
    listing: pa.Table,
    known: pa.Table,
    rejected: pa.Table,
    recipe: Recipe,
    selection: Selection = EVERYTHING,
    *,
    full: bool = False,
) -> Diff:
    """Compare the listing of a source, or a part of it, with its objects and rejections in the last snapshot.

    Args:
        listing: table of schema ``LISTING``.
        known: table of schema ``KNOWN``.
        rejected: rows of the rejected table that belong to the source.
        recipe: what a row would be made with today.
        selection: what the run is about; all else stays as it is.
        full: take nothing for done.
    """
    shards, spread = _shards(known), _spread(known)
    known = one_row_an_object(known)
    names = listing["object_name"]
    place = pc.index_in(names, value_set=known["object_name"].combine_chunks())
    is_known = _mask(place.is_valid())
    chosen = selection.of_listing(listing, known["chosen"].take(place))
    # An object whose former rows have to be put in another place is worth another try.
    elsewhere = known.filter(pc.invert(known["in_place"]))["object_name"]
    today = "" if full else recipe.fingerprint
    kept = _kept_rejections(listing, chosen, rejected, today, selection, elsewhere)
    is_open = chosen & ~_among(names, kept["object_name"])
    mine, theirs = listing.filter(pa.array(is_known)), known.take(place.drop_null())
    same_token, same_bytes = _same_version(mine, theirs)
    redo = _redo(theirs, rejected, spread, full=full)
    read = is_open.copy()
    read[is_known] &= ~same_bytes | (redo == Redo.READ)
    touched = _of_known(is_known, ~same_token) & is_open & ~read
    again = _of_known(is_known, (redo > Redo.NOTHING) | ~_mask(theirs["in_place"])) & is_open & ~read
    rows = listing.drop_columns(["modified"]).append_column("shard", known["shard"].take(place))
    changed = int(((read | touched | again) & is_known).sum())
    gone = _gone(known, place, selection)
    return Diff(
        reads=_rows(rows, read),
        touched=_rows(rows, touched),
        redo=_rows(rows, again).select(["object_name", "size", "shard"]),
        gone=gone,
        kept_rejections=kept.sort_by("object_name"),
        shards=shards,
        spread=spread,
        listed=listing.num_rows,
        new=int((read & ~is_known).sum()),
        changed=changed,
        unchanged=known.num_rows - changed - gone.num_rows,
        known_bytes=int(listing["size"].to_numpy()[again & _of_known(is_known, redo <= Redo.SPARSE)].sum()),
    )


def together(parts: Sequence[Diff]) -> Diff:
    """The outcome for a source from those of its parts."""

    def rows(name: str) -> pa.Table:
        return pa.concat_tables([getattr(part, name) for part in parts]).sort_by("object_name")

    totals = [("objects", "sum"), ("bytes", "sum"), ("first", "min")]
    shards = pa.concat_tables([part.shards for part in parts])
    shards = shards.group_by("shard", use_threads=False).aggregate(totals)
    return Diff(
        reads=rows("reads"),
        touched=rows("touched"),
        redo=rows("redo"),
        gone=rows("gone"),
        kept_rejections=rows("kept_rejections"),
        shards=shards.select(["shard", *(f"{name}_{how}" for name, how in totals)])
        .rename_columns(["shard", *(name for name, _ in totals)])
        .sort_by("shard"),
        spread=rows("spread"),
        listed=sum(part.listed for part in parts),
        new=sum(part.new for part in parts),
        changed=sum(part.changed for part in parts),
        unchanged=sum(part.unchanged for part in parts),
        known_bytes=sum(part.known_bytes for part in parts),
    )


def _kept_rejections(
    listing: pa.Table,
    chosen: Mask,
    rejected: pa.Table,
    recipe: str,
    selection: Selection,
    elsewhere: pa.ChunkedArray,
) -> pa.Table:
    """Rejections that stand: of what the run is not about, and of listed versions not worth another try."""
    if not rejected.num_rows:
        return rejected
    place = pc.index_in(rejected["object_name"], value_set=listing["object_name"].combine_chunks())
    same_version = _mask(pc.equal(listing["token"].take(place), rejected["object_token"]))
    passing = rejected.filter(pc.is_in(rejected["reason"], pa.array(RETRIED)))["object_name"]
    lasting = ~_among(rejected["object_name"], passing) & _mask(pc.equal(rejected["recipe"], recipe))
    lasting &= ~_among(rejected["object_name"], elsewhere)
    about = selection.of_gone(rejected["object_name"])
    is_listed = _mask(place.is_valid())
    about[is_listed] = chosen[place.drop_null().to_numpy()]
    return rejected.filter(pa.array(~about | (same_version & lasting)))


def _same_version(mine: pa.Table, theirs: pa.Table) -> tuple[Mask, Mask]:
    """Whether objects have the version that was read last, and whether they have its bytes for certain."""
    same_token = _mask(pc.equal(mine["token"], theirs["token"]))
    same_sum = pc.and_(
        pc.equal(mine["checksum"], theirs["checksum"]), pc.equal(mine["size"], theirs["size"])
    )
    return same_token, same_token | (_mask(same_sum) & _mask(pc.not_equal(mine["checksum"], "")))


def _redo(theirs: pa.Table, rejected: pa.Table, spread: pa.Table, *, full: bool) -> NDArray[np.int8]:
    """From which stage on each known object is made again."""
    if full:
        return np.full(theirs.num_rows, Redo.READ, np.int8)
    names = theirs["object_name"]
    redo: NDArray[np.int8] = theirs["redo"].to_numpy().copy()
    # Rows of the rejected table were made by another recipe too, and only reading makes them again.
    redo[(redo > Redo.NOTHING) & _among(names, rejected["object_name"])] = Redo.READ
    # What has to be read to be cut again is, in ranges, where it is read in ranges.
    redo[(redo == Redo.CHUNK) & _among(names, spread["object_name"])] = Redo.READ
    # Of an object that is read in ranges some may have been, and others not.
    passing = rejected.filter(pc.is_in(rejected["reason"], pa.array(RETRIED)))
    redo[_among(names, passing["object_name"])] = Redo.READ
    return redo


def _gone(known: pa.Table, place: pa.ChunkedArray, selection: Selection) -> pa.Table:
    stays = np.zeros(known.num_rows, bool)
    stays[place.drop_null().to_numpy()] = True
    gone = known.filter(pa.array(~stays & selection.of_gone(known["object_name"])))
    return gone.select(["object_name", "size", "token", "checksum", "shard"]).sort_by("object_name")


def _shards(known: pa.Table) -> pa.Table:
    table = known.group_by("shard", use_threads=False).aggregate(
        [("object_name", "count"), ("size", "sum"), ("object_name", "min")]
    )
    columns = ["shard", "object_name_count", "size_sum", "object_name_min"]
    return table.select(columns).rename_columns(["shard", "objects", "bytes", "first"]).sort_by("shard")


def _spread(known: pa.Table) -> pa.Table:
    counts = known["object_name"].value_counts()
    several = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    return known.filter(pc.is_in(known["object_name"], several)).select(["object_name", "shard"])


def _rows(table: pa.Table, mask: Mask) -> pa.Table:
    return table.filter(pa.array(mask)).sort_by("object_name")


def _of_known(is_known: Mask, values: Mask) -> Mask:
    """Values of the known objects at their places among all of the listing."""
    spread = np.zeros(len(is_known), bool)
    spread[is_known] = values
    return spread


def _among(column: pa.ChunkedArray, values: pa.Array | pa.ChunkedArray) -> Mask:
    return _mask(pc.is_in(column, value_set=pa.array(values.unique())))


def _mask(column: pa.ChunkedArray) -> Mask:
    """A column of booleans as an array; null is no."""
    found: Mask = pc.fill_null(column, fill_value=False).to_numpy().astype(bool)
    return found
