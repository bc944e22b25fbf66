"""What a snapshot has beside its rows: where that alone is to be made anew, it is cause enough for a snapshot.

Such a one has the files of its parent: nothing is read, embedded or written anew but what is named here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.sparse.registry import sparse_name
from transforms.table.terms import fault_of_terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from transforms.stages.job import Job
    from transforms.table.reader import Snapshot


def beside_rows(job: Job, parent: Snapshot | None) -> Iterator[str]:
    """Each cause as a sentence; none in a first run, nor where the table has no sparse vectors, or gets its first."""
    encoder = sparse_name(job.sparse)
    if parent is None or encoder is None or parent.manifest.sparse is None:
        return
    before = parent.manifest
    if job.search != before.search:
        yield (
            f"Searches by vectors and words go by {job.search}, where they went by {before.search} "
            "(`search` in the configuration); no row is made anew for it."
        )
    fault = fault_of_terms(parent) if encoder == before.sparse else ""
    if fault:
        yield f"{fault}; it is counted anew from the chunks."
