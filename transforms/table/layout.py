"""Where everything of a table stands, relative to the table's root."""

from __future__ import annotations

import re

CHUNKS = "chunks"
DOCUMENTS = "documents"
LATEST = "latest.json"
SNAPSHOTS = "snapshots/"
RUNS = "runs/"

_SNAPSHOT = re.compile(r"snapshots/(\d{6,})/")
_SHARD_FILE = re.compile(r"(?:^|/)(?:chunks|documents)/source=([^/]+)/([^/]+)\.parquet$")


def snapshot_dir(number: int) -> str:
    """The directory of a snapshot, with its slash."""
    return f"{SNAPSHOTS}{number:06}/"


def snapshot_of(path: str) -> int | None:
    """The number of the snapshot that a path lies in."""
    found = _SNAPSHOT.match(path)
    return int(found[1]) if found else None


def manifest_path(number: int) -> str:
    """Written last: a snapshot without it is an unfinished run."""
    return snapshot_dir(number) + "manifest.json"


def shard_path(number: int, kind: str, slug: str, shard: str) -> str:
    """The file of one shard; ``kind`` is ``CHUNKS`` or ``DOCUMENTS``."""
    return f"{snapshot_dir(number)}{kind}/source={slug}/{shard}.parquet"


def shard_of(path: str) -> str:
    """The shard that a file belongs to, or "" where it is no shard's file."""
    found = _SHARD_FILE.search(path)
    return found[2] if found else ""


def kind_of(path: str) -> str:
    """``CHUNKS`` or ``DOCUMENTS``: what a file of a snapshot holds, by its path within the snapshot."""
    return path.partition("/")[0]


def slug_of(path: str) -> str:
    """The partition that a shard's file lies in, or ""."""
    found = _SHARD_FILE.search(path)
    return found[1] if found else ""


def deletes_path(number: int) -> str:
    """Chunk ids that are gone since the parent."""
    return snapshot_dir(number) + "deletes.parquet"


def rejected_path(number: int) -> str:
    """Documents that could not be indexed."""
    return snapshot_dir(number) + "rejected.parquet"


def terms_path(number: int) -> str:
    """How many chunks have each term, where the table has sparse vectors."""
    return snapshot_dir(number) + "terms.parquet"


def report_path(number: int) -> str:
    """Counts by source and reason, for programs."""
    return snapshot_dir(number) + "report.json"


def report_page_path(number: int) -> str:
    """The same and more, for people."""
    return snapshot_dir(number) + "report.html"


def claim_path(number: int) -> str:
    """Who builds the snapshot. No slug of a source begins so."""
    return snapshot_dir(number) + "_plan/_claim.json"


def about_path(number: int) -> str:
    """What the run is about that builds the snapshot."""
    return snapshot_dir(number) + "_plan/_about.json"


def plan_path(number: int, slug: str) -> str:
    """What the run set out to do with a source."""
    return f"{snapshot_dir(number)}_plan/{slug}.json"


def done_dir(number: int) -> str:
    """All receipts of a run, with its slash."""
    return f"{snapshot_dir(number)}_done/"


def done_path(number: int, slug: str, shard: str) -> str:
    """The receipt of a finished shard."""
    return f"{done_dir(number)}{slug}/{shard}.json"


def budget_path(number: int, run_id: str) -> str:
    """How much of its budget a run's processes have taken."""
    return f"{snapshot_dir(number)}_plan/_budget-{run_id}.json"


def noted_path(number: int, run_id: str) -> str:
    """What a run noticed before its work began."""
    return f"{snapshot_dir(number)}_plan/_noted-{run_id}.json"


def vectors_path(number: int, slug: str, shard: str) -> str:
    """Vectors that a shard got before it was stopped."""
    return f"{snapshot_dir(number)}_vectors/{slug}/{shard}.arrow"


def run_path(run_id: str) -> str:
    """How a run ended."""
    return f"{RUNS}{run_id}.json"


def rejected_of_run_path(run_id: str) -> str:
    """Documents that could not be indexed, of a run that published nothing because they were too many."""
    return f"{RUNS}{run_id}.rejected.parquet"
