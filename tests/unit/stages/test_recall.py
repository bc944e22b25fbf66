"""What a process remembers of the vectors that it has made: the latest, in as much memory as is said."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from pipeline.config import JobConfig
from pipeline.job import make_job
from transforms.model.ids import sha256_hex
from transforms.stages import recall
from transforms.stages.recall import Recall, recall_of


def job_of(folder, run_id="run"):
    (folder / "docs").mkdir(exist_ok=True)
    source = {"name": "docs", "root": str(folder / "docs")}
    config = JobConfig.model_validate({"table": str(folder / "table"), "sources": [source]})
    return make_job(config, run_id, 1, None)


def keys(first, last):
    return [sha256_hex(str(number)) for number in range(first, last)]


def filled(folder, dimension, count, step=500):
    found = Recall(job_of(folder))
    for first in range(0, count, step):
        found.keep(keys(first, first + step), np.full((step, dimension), first, np.float32))
    return found


@pytest.mark.parametrize("dimension", [1, 32, 768])
def test_what_is_kept_with_a_vector_counts_as_well_as_its_numbers(dimension, tmp_path, monkeypatch):
    monkeypatch.setattr(recall, "CACHE_BYTES", 4 * 2**20)
    filled(tmp_path, dimension, 500)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        found = filled(tmp_path, dimension, 30_000)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.made_here(keys(29_500, 30_000)) == set(keys(29_500, 30_000))
    # A batch stays whole while one vector of it is kept, and tables of keys grow by doubling.
    assert 2 * 2**20 < after - before < 6 * 2**20


def test_the_latest_vectors_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(recall, "CACHE_BYTES", 1000 * (4 * 8 + 340))
    found = filled(tmp_path, 8, 3000)
    assert found.made_here(keys(0, 3000)) == set(keys(2000, 3000))
    assert found.vectors(keys(2000, 2001), 8)[sha256_hex("2000")].tolist() == [2000.0] * 8


def test_there_is_one_for_a_run(tmp_path):
    first, again, other = (recall_of(job_of(tmp_path, name)) for name in ("run", "run", "next"))
    assert first is again
    assert other is not first
