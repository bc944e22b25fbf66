"""A corpus that is told by an inventory and not listed: what it says is done, and what it does not know is left."""

import csv
import datetime
import gzip
import io
import json
import urllib.parse
from unittest import mock

import pytest

from pipeline.config import JobConfig
from pipeline.run import run_job
from tests.storage.conftest import bucket_root
from tests.support import beamless
from transforms.model.errors import GuardError
from transforms.storage.bucket import BucketStore
from transforms.storage.registry import open_store
from transforms.table.reader import Snapshot

PAGES = {"a b+c.md": "vent", "caf\u00e9/1.md": "pump", "gone.md": "seal", "later.md": "hose"}


@pytest.fixture(params=["gcs", "s3"])
def root(request, monkeypatch):
    open_store.cache_clear()
    monkeypatch.setattr("pipeline.run._run", beamless.work)
    root = bucket_root(request.param, request)
    yield root
    for place in (root, f"{root}-table", f"{root}-inventory", root.removesuffix("/corpus")):
        open_store(place).close()
    open_store.cache_clear()


def page(word):
    return f"# About a {word}\n\nThe {word} stays as it is.\n".encode()


def deliver(root, day, made=None):
    """What the service would write of the bucket as it is now."""
    made = made or datetime.datetime.now(datetime.UTC)
    bucket = open_store(root.removesuffix("/corpus"))
    name = bucket.root.partition("://")[2]
    objects = [info for page in bucket.list("corpus/") for info in page]
    text = io.StringIO()
    if root.startswith("s3://"):
        rows = (
            [name, urllib.parse.quote_plus(i.name, safe="/"), i.size, i.token.strip('"')] for i in objects
        )
        csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
        data, file = gzip.compress(text.getvalue().encode()), f"corpus-inventory/data/{day}.csv.gz"
        facts = {
            "sourceBucket": name,
            "creationTimestamp": str(int(made.timestamp() * 1000)),
            "fileFormat": "CSV",
            "fileSchema": "Bucket, Key, Size, ETag",
            "files": [{"key": file, "size": len(data), "MD5checksum": "0"}],
        }
    else:
        rows = [["bucket", "name", "size", "generation", "md5Hash"]]
        rows += [[name, i.name, i.size, i.token, i.checksum.removeprefix("md5:")] for i in objects]
        csv.writer(text).writerows(rows)
        data, file = text.getvalue().encode(), f"corpus-inventory/{day}_0.csv"
        facts = {
            "snapshot_time": made.isoformat(),
            "records_processed": len(objects),
            "shard_count": 1,
            "report_shards_file_names": [f"{day}_0.csv"],
        }
    bucket.write(file, data)
    bucket.write(f"corpus-inventory/{day}T01-00_manifest.json", json.dumps(facts).encode())


def run(root):
    config = JobConfig.model_validate(
        {
            "table": f"{root}-table",
            "embedder": {"kind": "hash", "dimension": 4},
            "sources": [{"name": "docs", "root": root, "inventory": {"uri": f"{root}-inventory"}}],
            "run": {"workers": 1},
        }
    )
    real = BucketStore.list

    def listed(store, prefix=""):
        assert store.root != root, "the corpus is not listed"
        return real(store, prefix)

    with mock.patch.object(BucketStore, "list", listed):
        return run_job(config)


def indexed(root):
    snapshot = Snapshot.newest(open_store(f"{root}-table"))
    rows = [row for batch in snapshot.chunks() for row in batch.to_pylist()]
    return {row["doc_uri"].removeprefix(f"{root}/"): row["text"].split()[-5] for row in rows}


def test_nights_told_by_an_inventory_index_what_it_names(root):
    corpus = open_store(root)
    for name, word in PAGES.items():
        if name != "later.md":
            corpus.write(name, page(word))
    deliver(root, "2026-11-01")
    assert run(root).status == "published"
    assert indexed(root) == {name: word for name, word in PAGES.items() if name != "later.md"}
    assert run(root).status == "unchanged"

    # Deleted, changed and new, one of them after the inventory was made.
    corpus.delete(["gone.md"])
    corpus.write("a b+c.md", page("valve"))
    deliver(root, "2026-11-02")
    corpus.write("later.md", page("hose"))
    corpus.write("caf\u00e9/1.md", page("motor"))
    outcome = run(root)
    # One row is gone, and one has another in its place.
    assert outcome.counts["deleted"] == 2
    assert indexed(root) == {"a b+c.md": "valve", "caf\u00e9/1.md": "pump"}
    deliver(root, "2026-11-03")
    assert run(root).status == "published"
    assert indexed(root) == {"a b+c.md": "valve", "caf\u00e9/1.md": "motor", "later.md": "hose"}


@pytest.mark.parametrize("root", ["s3"], indirect=True)
def test_an_object_that_changed_after_the_inventory_keeps_its_rows_until_the_next(root):
    corpus = open_store(root)
    corpus.write("1.md", page("pump"))
    deliver(root, "2026-11-01")
    run(root)
    corpus.write("1.md", page("motor"))
    deliver(root, "2026-11-02")
    corpus.write("1.md", page("valve"))
    assert run(root).counts["rejected"] == 1
    assert indexed(root) == {"1.md": "pump"}
    deliver(root, "2026-11-03")
    assert run(root).counts["rejected"] == 0
    assert indexed(root) == {"1.md": "valve"}


@pytest.mark.parametrize("root", ["s3"], indirect=True)
def test_an_object_that_is_newer_than_the_inventory_is_not_deleted(root):
    corpus = open_store(root)
    for name in ("1.md", "2.md"):
        corpus.write(name, page("pump"))
    deliver(root, "2026-11-02")
    run(root)
    corpus.delete(["2.md"])
    deliver(root, "2026-11-03")
    corpus.write("2.md", page("valve"))
    assert run(root).counts["deleted"] == 0
    assert sorted(indexed(root)) == ["1.md", "2.md"]


@pytest.mark.parametrize("root", ["s3"], indirect=True)
def test_an_inventory_that_is_old_leaves_the_source_as_it_was(root):
    corpus = open_store(root)
    corpus.write("1.md", page("pump"))
    deliver(root, "2026-11-01")
    run(root)
    corpus.delete(["1.md"])
    deliver(root, "2026-11-02", datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC))
    with pytest.raises(GuardError, match=r"older than inventory\.max_age = 3d"):
        run(root)
    assert indexed(root) == {"1.md": "pump"}
