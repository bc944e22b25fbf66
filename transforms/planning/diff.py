"""Compare a listing with what the last snapshot knows: new, changed, unchanged, gone.

Everything is a join on columns; no Python object exists for an unchanged document.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.table.columns import count_true

if TYPE_CHECKING:
    from transforms.stages.job import Recipe

LISTING = pa.schema(
    [
        pa.field("object_name", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("token", pa.string(), nullable=False),
    ]
)
"""One row an object of the source."""

KNOWN = pa.schema(
    [
        pa.field("object_name", pa.string(), nullable=False),
        pa.field("object_token", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("extract_recipe", pa.string(), nullable=False),
        pa.field("chunk_recipe", pa.string(), nullable=False),
        pa.field("embed_recipe", pa.string(), nullable=False),
        pa.field("shard", pa.string(), nullable=False),
    ]
)
"""One row a document of the last snapshot."""

RETRIED = ("unreadable", "changed_while_reading")
"""Reasons that say nothing of the object itself: such documents are tried again in every run."""


@dataclass(frozen=True, slots=True)
class Diff:
    """The outcome of the comparison. ``reads`` has a null ``shard`` where the object is new."""

    reads: pa.Table
    """object_name, size, token, shard; in name order."""
    gone: pa.Table
    """object_name, shard; in name order."""
    kept_rejections: pa.Table
    shards: tuple[str, ...]
    listed: int
    new: int
    changed: int
    unchanged: int


def compare(listing: pa.Table, known: pa.Table, rejected: pa.Table, recipe: Recipe) -> Diff:
    """Compare a source's listing with its documents and rejections in the last snapshot.

    Args:
        listing: table of schema ``LISTING``.
        known: table of schema ``KNOWN``; several rows an object where it holds several documents.
        rejected: rows of the rejected table that belong to the source.
        recipe: what a row would be made with today.
    """
    objects = _objects(known, recipe)
    still_bad = _still_bad(listing, rejected, recipe)
    joined = listing.join(objects, "object_name", join_type="left outer", use_threads=False)
    joined = joined.join(
        # An object has several rejections where several of its parts cannot be read.
        still_bad.group_by(["object_name", "bad"], use_threads=False).aggregate([]),
        "object_name",
        join_type="left outer",
        use_threads=False,
    )
    is_known = joined["shard"].is_valid()
    same_token = pc.fill_null(pc.equal(joined["token"], joined["object_token"]), fill_value=False)
    current = pc.and_(same_token, pc.fill_null(joined["current"], fill_value=False))
    settled = pc.or_(current, joined["bad"].is_valid())
    todo = pc.invert(settled)
    reads = joined.filter(todo).select(["object_name", "size", "token", "shard"])
    gone = objects.join(
        listing.select(["object_name"]), "object_name", join_type="left anti", use_threads=False
    )
    changed = count_true(pc.and_(todo, is_known))
    return Diff(
        reads=reads.sort_by("object_name"),
        gone=gone.select(["object_name", "shard"]).sort_by("object_name"),
        kept_rejections=still_bad.drop_columns(["bad"]).sort_by("object_name"),
        shards=tuple(sorted(known["shard"].unique().to_pylist())),
        listed=listing.num_rows,
        new=count_true(todo) - changed,
        changed=changed,
        unchanged=count_true(pc.and_(settled, is_known)),
    )


def _objects(known: pa.Table, recipe: Recipe) -> pa.Table:
    """One row an object: its shard, its version, and whether all its rows are good and of today."""
    tests = [
        pc.not_equal(known["status"], "stale"),
        pc.equal(known["extract_recipe"], recipe.extract),
        pc.equal(known["chunk_recipe"], recipe.chunk),
        pc.equal(known["embed_recipe"], recipe.embed),
    ]
    current = functools.reduce(pc.and_, tests)
    table = known.select(["object_name", "object_token", "shard"]).append_column("current", current)
    grouped = table.group_by(["object_name", "shard"], use_threads=False).aggregate(
        [("object_token", "min"), ("object_token", "max"), ("current", "all")]
    )
    one_version = pc.equal(grouped["object_token_min"], grouped["object_token_max"])
    return pa.table(
        {
            "object_name": grouped["object_name"],
            "shard": grouped["shard"],
            "object_token": grouped["object_token_min"],
            "current": pc.and_(grouped["current_all"], one_version),
        }
    )


def _still_bad(listing: pa.Table, rejected: pa.Table, recipe: Recipe) -> pa.Table:
    """Rejections of versions that are listed still, under today's recipe, and not worth another try."""
    lasting = pc.invert(pc.is_in(rejected["reason"], pa.array(RETRIED)))
    same_recipe = pc.equal(rejected["recipe"], recipe.fingerprint)
    candidates = rejected.filter(pc.and_(lasting, same_recipe))
    present = listing.select(["object_name", "token"])
    kept = candidates.join(
        present,
        ["object_name", "object_token"],
        ["object_name", "token"],
        join_type="left semi",
        use_threads=False,
    )
    return kept.append_column("bad", pa.repeat(pa.scalar(value=True), kept.num_rows))
