"""A table in a bucket whose service fails in the middle of a run: one sentence, and the old snapshot as it was."""

import gc
from unittest import mock

import pytest

from pipeline.config import JobConfig
from pipeline.run import run_job
from tests.storage.conftest import ENDPOINTS, between, bucket_root
from tests.support import beamless
from transforms.model.errors import StorageError
from transforms.storage.registry import open_store
from transforms.table import lease
from transforms.table.history import published
from transforms.table.pointer import read_pointer
from transforms.table.reader import Snapshot
from transforms.table.verify import check_files

# Vendors' clients leave connections open on which they have given up.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(params=sorted(ENDPOINTS))
def table(request, monkeypatch):
    """The root of a table in a bucket behind a proxy, and the proxy."""
    root = bucket_root(request.param, request).replace("/corpus", "/table")
    trouble = between(request.param, request, monkeypatch)
    monkeypatch.setattr("transforms.storage.gcs._DEADLINE", 0.5)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr("pipeline.run._run", beamless.work)
    open_store.cache_clear()
    yield root, trouble
    open_store(root).close()
    open_store.cache_clear()
    trouble.close()
    gc.collect()


def rows(root):
    store = open_store(root)
    snapshot = Snapshot.open(store, read_pointer(store).snapshot)
    check_files(store, snapshot.manifest)
    return [row for batch in snapshot.chunks() for row in batch.to_pylist()]


@pytest.mark.parametrize("answers", [0, 9, 27])
def test_a_service_that_begins_to_fail_after_some_answers_ends_the_run_and_harms_nothing(
    table, tmp_path, answers
):
    root, trouble = table
    page = tmp_path / "corpus/page.md"
    page.parent.mkdir()
    page.write_text("# Pumps\n\nThe vent valve stays open.\n")
    config = JobConfig.model_validate(
        {
            "table": root,
            "embedder": {"kind": "hash", "dimension": 4},
            "sources": [{"name": "docs", "root": str(page.parent)}],
            "run": {"workers": 1},
        }
    )
    assert run_job(config).snapshot == 1
    before = rows(root)
    page.write_text("# Pumps\n\nThe vent valve stays shut.\n")
    trouble.faults.extend(["", *[""] * answers, *["503"] * 100_000])
    # The process that failed is gone when the next one starts: its claim is that of a dead run.
    with mock.patch.object(lease, "_started", return_value="first"), pytest.raises(StorageError) as caught:
        run_job(config)
    assert "\n" not in str(caught.value)
    trouble.faults.clear()
    assert rows(root) == before
    assert [manifest.snapshot for manifest in published(open_store(root))] == [1]
    outcome = run_job(config)
    assert (outcome.snapshot, outcome.counts["chunks"]) == (2, 1)
    assert "shut" in rows(root)[0]["text"]
