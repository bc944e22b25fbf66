"""One job, whatever runs it: the same files with the same rows in the same order, on the first night and the next."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.engine_jobs import DEMO, Engine, copy_of_demo

ENGINES = ("two_workers", "loopback", "processes", "prism", "flink", "spark")
NIGHTS = (1, 2)


def change(corpus: Path) -> None:
    """The night's changes: a text edited, a file new, one gone, one renamed, one touched."""
    night = DEMO / "second_run"
    shutil.copy(night / "haeufige-fragen.md", corpus / "support/de/haeufige-fragen.md")
    shutil.copy(night / "2024-06-19-odometry.eml", corpus / "support")
    (corpus / "support/club-evening.pptx").unlink()
    (corpus / "support/glossary.rst").rename(corpus / "support/words.rst")
    os.utime(corpus / "support/parts.csv", (1_700_000_000, 1_700_000_000))


@pytest.fixture
def two_workers():
    """Two processes of this machine, by Beam's local runner."""
    return Engine(workers=2)


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    """Two corpora, the second one night later, and what this machine makes of them with one worker."""
    folder = tmp_path_factory.mktemp("nights")
    place = copy_of_demo(folder)
    said = [published(place, "here", Engine())]
    kept = folder / "first-night"
    shutil.copytree(place.corpus, kept)
    change(place.corpus)
    said.append(published(place, "here", Engine()))
    later = folder / "second-night"
    shutil.copytree(place.corpus, later)
    return place, (kept, later), said


def published(place, name, engine) -> dict:
    """What a run says that published."""
    done = place.run(name, engine)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


def tables(snapshot: Path) -> dict[str, tuple[str, dict[str, list]]]:
    """Every Parquet file of a snapshot with its schema, column by column, whatever columns it has."""
    found = {}
    for path in sorted(snapshot.rglob("*.parquet")):
        table = pq.ParquetFile(path).read()
        found[str(path.relative_to(snapshot))] = str(table.schema), table.to_pydict()
    return found


def said_of_all_runs(snapshot: Path) -> dict:
    """The manifest without what two runs never share: files with rows, bytes and checksums, counts, recipes."""
    manifest = json.loads((snapshot / "manifest.json").read_text())
    return {key: value for key, value in manifest.items() if key not in ("created_at", "run_id")}


@pytest.mark.parametrize("name", ENGINES)
def test_the_snapshots_are_those_of_one_worker_here_column_for_column(name, nights, request):
    engine = request.getfixturevalue(name)
    place, corpora, said = nights
    for night, corpus, here in zip(NIGHTS, corpora, said, strict=True):
        shutil.rmtree(place.corpus)
        shutil.copytree(corpus, place.corpus)
        outcome = published(place, name, engine)
        folder, reference = (place.table(one) / f"snapshots/{night:06}" for one in (name, "here"))
        assert tables(folder) == tables(reference)
        assert said_of_all_runs(folder) == said_of_all_runs(reference)
        assert {
            key: outcome[key] for key in ("status", "counts", "sources", "embedded_tokens", "work")
        } == {key: here[key] for key in ("status", "counts", "sources", "embedded_tokens", "work")}
    named = tables(place.table("here") / "snapshots/000002")
    assert {name.split("/")[0] for name in named} >= {
        "chunks",
        "documents",
        "rejected.parquet",
        "terms.parquet",
    }
    assert said[0]["counts"]["embedded"] > 50
    assert 0 < said[1]["counts"]["embedded"] < 15
