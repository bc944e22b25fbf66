"""The bundled demo, read from a bucket and published to it: a first night, and one after the five changes."""

from pathlib import Path

import pytest

from pipeline.config import load_config
from pipeline.run import run_job
from tests.storage.conftest import ENDPOINTS, bucket_root
from transforms.storage.registry import open_store
from transforms.table.reader import Snapshot
from transforms.table.verify import check_files

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "examples/corpus"
CHANGES = ROOT / "examples/second_run"
FILES = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*") if path.is_file())
EDITED, NEW = "support/de/haeufige-fragen.md", "support/2024-06-19-odometry.eml"
DELETED, RENAMED, TOUCHED = "support/club-evening.pptx", "support/glossary.rst", "support/parts.csv"


@pytest.fixture(params=sorted(ENDPOINTS))
def kind(request):
    return request.param


@pytest.fixture
def job(kind, request, tmp_path):
    """The demo's configuration with all places in a new bucket, where the corpus is."""
    open_store.cache_clear()
    root = bucket_root(kind, request)
    corpus = open_store(root)
    for path in sorted(path for path in CORPUS.rglob("*") if path.is_file()):
        corpus.write(path.relative_to(CORPUS).as_posix(), path.read_bytes())
    text = (ROOT / "configs/demo.yaml").read_text(encoding="utf-8")
    # The model that needs no extra; where things lie is the subject.
    text = text.replace("build/demo-table", f"{root}-table").replace("minilm", "static")
    (tmp_path / "demo.yaml").write_text(text.replace("examples/corpus", root), encoding="utf-8")
    job = load_config(tmp_path / "demo.yaml")
    yield job
    for place in (root, job.table, *(source.root for source in job.sources)):
        open_store(place).close()
    open_store.cache_clear()


def change(root):
    """What examples/second_run/README.md asks for."""
    corpus = open_store(root)
    corpus.write(EDITED, (CHANGES / "haeufige-fragen.md").read_bytes())
    corpus.write(NEW, (CHANGES / "2024-06-19-odometry.eml").read_bytes())
    corpus.copy(RENAMED, "support/words.rst")
    corpus.delete([DELETED, RENAMED])
    corpus.write(TOUCHED, corpus.read(TOUCHED))


def rows(job, number):
    """The chunks of a snapshot of which every file is as its manifest says."""
    store = open_store(job.table)
    snapshot = Snapshot.open(store, number)
    check_files(store, snapshot.manifest)
    return [row for batch in snapshot.chunks() for row in batch.to_pylist()]


def test_the_second_night_of_the_demo_in_a_bucket_pays_for_what_changed_alone(job):
    first = run_job(job)
    assert (first.status, first.snapshot) == ("published", 1)
    assert first.counts == {
        "documents": 41, "chunks": 97, "embedded": 97, "reused": 0, "rejected": 0, "deleted": 0, "repeated": 0,
    }  # fmt: skip
    assert first.work == {"opened": 29, "extracted": 41, "chunked": 41}
    before = rows(job, 1)
    change(job.sources[0].root.removesuffix("/support"))

    second = run_job(job)
    assert (second.status, second.snapshot) == ("published", 2)
    assert second.counts == {
        "documents": 41, "chunks": 96, "embedded": 3, "reused": 93, "rejected": 0, "deleted": 7, "repeated": 0,
    }  # fmt: skip
    # Edited, new and renamed files are opened; the touched one has the checksum that it had.
    assert second.work == {"opened": 3, "extracted": 2, "chunked": 3}
    after = rows(job, 2)
    assert files(row for row in after if row["changed_in"] == 2) == {EDITED, NEW, "support/words.rst"}
    assert files(before) - files(after) == {DELETED, RENAMED}
    assert not any(
        "12,4 V" in row["text"] for row in after if row["doc_uri"].endswith("/haeufige-fragen.md")
    )
    known = {row["embed_key"] for row in before}
    new = [row for row in after if row["embed_key"] not in known]
    assert (len(new), files(new)) == (3, {EDITED, NEW})

    third = run_job(job)
    assert (third.status, third.work["opened"], third.counts["embedded"]) == ("unchanged", 0, 0)


def files(rows):
    return {f"{row['source_name']}/{row['doc_id']}".partition("#")[0] for row in rows}
