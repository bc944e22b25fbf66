"""From a source's columns to its plan, part by part."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transforms.model.errors import StorageError
from transforms.model.ids import fingerprint
from transforms.planning.diff import KNOWN, LISTING, compare, together
from transforms.planning.gone import without_what_is_there
from transforms.planning.known import known_tables, rejected_table
from transforms.planning.large import large_objects
from transforms.planning.listing import listing_tables
from transforms.planning.partition import divided, part_count, part_of
from transforms.planning.place import uris
from transforms.planning.plan import SourcePlan
from transforms.planning.shards import plan_source, rejections_of
from transforms.storage.registry import open_store
from transforms.table.columns import replace_column
from transforms.table.layout import DOCUMENTS
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from transforms.planning.diff import Diff
    from transforms.stages.job import Job


def parts_of(job: Job, source: str) -> int:
    """In how many parts a source is compared: what the last snapshot holds of it decides."""
    if job.parent is None:
        return 1
    entry = Snapshot.open(open_store(job.table), job.parent).manifest.sources.get(source)
    return 1 if entry is None else part_count(entry.counts["documents"])


def compare_part(
    job: Job,
    source: str,
    part: tuple[int, int],
    listing: Iterable[pa.Table],
    documents: Iterable[pa.Table],
    rejected: pa.Table,
) -> Diff:
    """The outcome for one part; ``part`` is its number and that of all parts."""
    number, count = part
    rejected = replace_column(rejected, "doc_uri", uris(job.source[source], rejected["object_name"]))
    if count > 1:
        rejected = rejected.filter(pa.array(part_of(rejected["object_name"], count) == number))
    listed = each_once(pa.concat_tables([LISTING.empty_table(), *listing]))
    known = pa.concat_tables([KNOWN.empty_table(), *documents])
    spec = job.source[source]
    diff = compare(listed, known, rejected, spec.recipe, job.selection, full=job.full)
    return diff if spec.inventory is None else without_what_is_there(diff, spec)


def each_once(listed: pa.Table) -> pa.Table:
    """The listing without objects that it tells twice, of which the version written last stays.

    A report may name a version a line, or be put together from two; a second row would become a second document.
    """
    names = listed["object_name"]
    if pc.count_distinct(names).as_py() == listed.num_rows:
        return listed
    rows = pa.table({"name": names, "modified": listed["modified"], "row": pa.array(range(len(names)))})
    newest = rows.sort_by([("modified", "descending"), ("row", "descending")])
    first = newest.group_by("name", use_threads=False).aggregate([("row", "first")])
    return listed.take(first["row_first"].sort())


def plan_parts(job: Job, source: str, parts: Sequence[Diff]) -> SourcePlan:
    """The plan of one source from all its parts."""
    spec = job.source[source]
    # A shard done for another parent carried other rows over; one done at another place names that.
    place = open_store(spec.root).root
    inputs = fingerprint(spec.recipe.fingerprint, str(job.parent), str(job.full), place)
    diff = together(parts)
    return plan_source(source, diff, inputs, job.shard_bytes, large_objects(job, source, diff))


def keep_source(job: Job, source: str, rejected: pa.Table, problem: str = "") -> SourcePlan:
    """The plan that works on nothing and lets nothing go, whatever else changes.

    It is that of a source that the run is not about, or that could not be listed whole: the ``problem``.
    """
    documents, shards = 0, []
    if job.parent is not None:
        snapshot = Snapshot.open(open_store(job.table), job.parent)
        shards = snapshot.shards(DOCUMENTS, job.source[source].slug)
        documents = sum(file.rows for file in snapshot.files(DOCUMENTS, source))
    return SourcePlan(
        source=source,
        shards=(),
        kept_shards=tuple(sorted(shards)),
        kept_rejections=rejections_of(rejected),
        listed=0,
        new=0,
        changed=0,
        unchanged=documents,
        gone=0,
        work_bytes=0,
        problem=problem,
    )


def plan_alone(job: Job, source: str) -> SourcePlan:
    """The plan of one source, made in this process and kept nowhere."""
    rejected = rejected_table(job, source)
    if not job.selection.has(source):
        return keep_source(job, source, rejected)
    count = parts_of(job, source)
    left_out: Counter[str] = Counter()
    try:
        listing = _by_part(listing_tables(job, source, left_out), count)
    except StorageError as error:
        return keep_source(job, source, rejected, str(error))
    documents = _by_part(known_tables(job, source), count)
    parts = (
        compare_part(job, source, (part, count), listing.pop(part, ()), documents.pop(part, ()), rejected)
        for part in range(count)
    )
    return replace(plan_parts(job, source, [*parts]), tables=dict(left_out))


def _by_part(tables: Iterable[pa.Table], count: int) -> dict[int, list[pa.Table]]:
    parts: defaultdict[int, list[pa.Table]] = defaultdict(list)
    for table in tables:
        for part, rows in divided(table, count):
            parts[part].append(rows)
    return parts
