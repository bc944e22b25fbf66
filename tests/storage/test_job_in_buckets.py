"""The whole job with its corpus and its table in a bucket."""

import pytest

from pipeline.config import JobConfig
from pipeline.run import run_job
from tests.storage.conftest import ENDPOINTS, bucket_root
from transforms.storage.registry import open_store
from transforms.table.pointer import read_pointer
from transforms.table.reader import Snapshot


@pytest.fixture(params=sorted(ENDPOINTS))
def root(request):
    """A new bucket's folder, served by the process-wide stores, whose connections are closed at the end."""
    open_store.cache_clear()
    root = bucket_root(request.param, request)
    yield root
    for place in (root, f"{root}/build/table"):
        open_store(place).close()
    open_store.cache_clear()


def test_the_job_reads_and_publishes_in_a_bucket_night_after_night(root):
    corpus = open_store(root)
    corpus.write("a#1.md", b"# Pumps\n\nThe vent valve stays open.\n")
    corpus.write("b.txt", b"A note about the radio.\n")
    # Inside the source: the table's own files are no part of it.
    table = f"{root}/build/table"
    config = JobConfig.model_validate(
        {"table": table, "sources": [{"name": "docs", "root": root}], "run": {"workers": 1}}
    )
    assert run_job(config).snapshot == 1
    assert run_job(config).status == "unchanged"
    corpus.write("b.txt", b"A note about the battery.\n")
    outcome = run_job(config)
    assert (outcome.snapshot, outcome.counts["embedded"], outcome.counts["deleted"]) == (2, 1, 1)
    store = open_store(table)
    assert read_pointer(store).snapshot == 2
    rows = [row for batch in Snapshot.open(store, 2).chunks() for row in batch.to_pylist()]
    assert sorted(row["doc_uri"] for row in rows) == [f"{root}/a#1.md", f"{root}/b.txt"]
