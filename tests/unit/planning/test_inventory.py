"""Inventories as S3 Inventory and Storage Insights publish them, and what is no inventory that can be used."""

import datetime
import gzip
import io
import json
from itertools import chain

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from transforms.model.errors import StorageError
from transforms.planning.diff import LISTING
from transforms.planning.inventory import manifest, read
from transforms.planning.inventory.settings import InventorySettings
from transforms.storage.local import LocalStore

NOW = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
MILLIS = str(int(NOW.timestamp() * 1000))
# As documented: no row of names, and keys are URL-encoded.
S3_COLUMNS = "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag, StorageClass"
S3_ROWS = [
    '"docs","help/a+b%2Bc%23%3F.md","v3","true","false","11","2026-11-06T21:32:01.000Z","a1f0","STANDARD"',
    '"docs","help/caf%C3%A9.md","v2","true","false","12","2026-11-06T21:32:02.000Z","b2f0-3","STANDARD"',
    '"docs","help/caf%C3%A9.md","v1","false","false","9","2026-11-01T21:32:02.000Z","b1f0","STANDARD"',
    '"docs","help/gone.md","v9","true","true","","2026-11-06T21:32:02.000Z","","STANDARD"',
    '"docs","help/","v9","true","false","0","2026-11-06T21:32:02.000Z","d41d","STANDARD"',
    '"docs","helpers/x.md","v9","true","false","5","2026-11-06T21:32:02.000Z","c3","STANDARD"',
]
S3_LISTED = [
    ("a b+c#?.md", 11, '"a1f0"', 'etag:"a1f0"', 1_794_000_721),
    ("caf\u00e9.md", 12, '"b2f0-3"', 'etag:"b2f0-3"', 1_794_000_722),
]
GCS_HEADER = "project,bucket,name,size,updated,md5Hash,generation,timeDeleted"
GCS_ROWS = [
    'p,docs,"help/a, ""b"".md",11,2026-11-06T21:32:01.123456Z,XrY7u+Ae7tCTyyK7j1rNww==,1700000000000001,',
    "p,docs,help/100%25.md,12,2026-11-06T21:32:02Z,,1700000000000002,",
    "p,docs,help/old.md,12,2026-11-06T21:32:02Z,,1700000000000003,2026-11-06T22:00:00Z",
]
GCS_LISTED = [
    ('a, "b".md', 11, "1700000000000001", "md5:XrY7u+Ae7tCTyyK7j1rNww==", 1_794_000_721),
    ("100%25.md", 12, "1700000000000002", "", 1_794_000_722),
]


@pytest.fixture
def reports(tmp_path, monkeypatch):
    """The bucket of reports, whatever its scheme."""
    store = LocalStore(str(tmp_path))
    for module in (manifest, read):
        monkeypatch.setattr(module, "open_store", lambda root: store)
    return store


def zipped(rows):
    return gzip.compress("\n".join([*rows, ""]).encode())


def s3_inventory(reports, made=MILLIS, name="inv/docs/daily/2026-11-06T21-32Z", rows=S3_ROWS, **changes):
    data = zipped(rows)
    key = f"inv/docs/daily/data/{made}.csv.gz"
    reports.write(key, data)
    facts = {
        "sourceBucket": "docs",
        "destinationBucket": "arn:aws:s3:::reports",
        "version": "2016-11-30",
        "creationTimestamp": made,
        "fileFormat": "CSV",
        "fileSchema": S3_COLUMNS,
        "files": [{"key": key, "size": len(data), "MD5checksum": "f11166069f1990abeb9c97ace9cdfabc"}],
    }
    reports.write(f"{name}/manifest.json", json.dumps(facts | changes).encode())
    return f"s3://reports/{name}/manifest.json"


def gcs_inventory(reports, shards, names, **changes):
    for name, data in zip(names, shards, strict=True):
        reports.write(f"inv/{name}", data)
    facts = {
        "report_config": {"display_name": "nightly", "csv_options": {"delimiter": ","}},
        "records_processed": 3,
        "snapshot_time": NOW.isoformat().replace("+00:00", "Z"),
        "shard_count": len(names),
        "report_shards_file_names": names,
    }
    reports.write("inv/1f0b_2026-11-06T21:32_manifest.json", json.dumps(facts | changes).encode())
    return "gs://reports/inv/1f0b_2026-11-06T21:32_manifest.json"


def listed(uri, root="s3://docs/help", prefix="", **settings):
    tables = list(read.inventory_tables(root, InventorySettings(uri=uri, **settings), prefix))
    assert all(table.schema == LISTING for table in tables)
    return list(chain.from_iterable(zip(*table.to_pydict().values(), strict=True) for table in tables))


def test_s3_inventory_in_csv_is_read_as_a_listing_would_tell_it(reports):
    assert listed(s3_inventory(reports)) == S3_LISTED


def test_only_names_that_begin_with_the_prefix_are_told(reports):
    assert listed(s3_inventory(reports), prefix="caf") == S3_LISTED[1:]


def test_s3_inventory_in_parquet_has_names_as_they_are(reports):
    rows = pa.table(
        {
            "bucket": ["docs", "docs"],
            "key": ["help/a b+c#?.md", "help/caf%C3%A9.md"],
            "is_latest": [True, True],
            "is_delete_marker": [False, None],
            "size": pa.array([11, 12]),
            "last_modified_date": pa.array([1_794_000_721_000, 1_794_000_722_000], pa.timestamp("ms")),
            "e_tag": ["a1f0", "b2f0-3"],
        }
    )
    sink = io.BytesIO()
    pq.write_table(rows, sink)
    reports.write("inv/p.parquet", sink.getvalue())
    files = [{"key": "inv/p.parquet", "size": len(sink.getvalue()), "MD5checksum": "0"}]
    uri = s3_inventory(reports, fileFormat="Parquet", fileSchema="message s3.inventory { }", files=files)
    assert listed(uri) == [S3_LISTED[0], ("caf%C3%A9.md", *S3_LISTED[1][1:])]


@pytest.mark.parametrize("split", [1, 2])
def test_storage_insights_in_csv_has_its_generations(reports, split):
    shards = ["\n".join([GCS_HEADER, *rows]).encode() for rows in (GCS_ROWS[:split], GCS_ROWS[split:])]
    uri = gcs_inventory(reports, shards, ["1f0b_2026_0.csv", "1f0b_2026_1.csv"])
    assert listed(uri, "gs://docs/help") == GCS_LISTED


def test_a_report_of_storage_insights_in_parquet_becomes_a_listing(reports):
    rows = pa.table(
        {
            "bucket": ["docs"] * 3,
            "name": ['help/a, "b".md', "help/100%25.md", "elsewhere.md"],
            "size": pa.array([11, 12, 1]),
            "updated": pa.array(
                [1_794_000_721_123_456, 1_794_000_722_000_000, 0], pa.timestamp("us", "UTC")
            ),
            "md5Hash": ["XrY7u+Ae7tCTyyK7j1rNww==", None, None],
            "generation": pa.array([1_700_000_000_000_001, 1_700_000_000_000_002, 5]),
        }
    )
    sink = io.BytesIO()
    pq.write_table(rows, sink)
    uri = gcs_inventory(reports, [sink.getvalue()], ["x.parquet"])
    assert listed(uri, "gs://docs/help") == GCS_LISTED


def test_of_a_folder_the_newest_manifest_counts_by_the_date_in_its_name(reports):
    s3_inventory(reports, name="inv/docs/daily/2026-11-07T01-00Z")
    s3_inventory(reports, made="1000", name="inv/docs/daily/2026-10-31T01-00Z")
    assert listed("s3://reports/inv/docs/daily") == S3_LISTED
    assert listed("s3://reports/inv/docs/daily/") == S3_LISTED
    s3_inventory(reports, made="1000", name="inv/docs/daily/2026-11-08T01-00Z")
    with pytest.raises(
        StorageError, match=r"2026-11-08T01-00Z/manifest.json is of 1970-01-01 00:00 UTC, which is"
    ):
        listed("s3://reports/inv/docs/daily")


def test_a_single_file_needs_no_manifest_and_its_columns_can_have_any_name(reports):
    reports.write("l.csv", b"path,bytes,hash\nhelp/1.md,3,00123\nhelp/2.md,4,1e5\n")
    columns = {"name": "path", "size": "bytes", "token": "hash"}
    assert listed("s3://reports/l.csv", columns=columns) == [
        ("1.md", 3, '"00123"', 'etag:"00123"', None),
        ("2.md", 4, '"1e5"', 'etag:"1e5"', None),
    ]


def told(uri, root="s3://docs/help", **settings):
    with pytest.raises(StorageError) as caught:
        listed(uri, root, **settings)
    return str(caught.value)


def test_an_old_inventory_is_told_with_its_date(reports):
    old = str(int((NOW - datetime.timedelta(days=4)).timestamp() * 1000))
    uri = s3_inventory(reports, made=old)
    assert "which is older than inventory.max_age = 3d; see why no newer one is delivered" in told(uri)
    assert listed(uri, max_age="5d") == S3_LISTED


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"files": [{"key": "inv/none.csv.gz", "size": 5}]}, "inv/none.csv.gz is not there, and 5 bytes were written"),
        ({"fileFormat": "ORC"}, "is of an inventory in ORC; choose CSV or Parquet"),
        ({"sourceBucket": "other"}, "is of the bucket other, and not of docs"),
        ({"files": 5}, "is no manifest of an inventory that can be read: TypeError"),
        ({"fileSchema": "Bucket, Key, Size"}, "has no column etag for the token of objects; its columns are "),
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_used_is_told(reports, changes, sentence):
    assert sentence in told(s3_inventory(reports, **changes))


def test_a_file_that_is_shorter_than_its_manifest_says_is_not_whole(reports):
    uri = s3_inventory(reports)
    reports.write(f"inv/docs/daily/data/{MILLIS}.csv.gz", zipped(S3_ROWS[:2]))
    assert "The inventory" in told(uri)
    assert "is not whole" in told(uri)


def test_fewer_rows_than_the_manifest_says_are_not_whole(reports):
    shard = "\n".join([GCS_HEADER, *GCS_ROWS]).encode()
    uri = gcs_inventory(reports, [shard], ["x.csv"], records_processed=4)
    assert "is not whole: it has 3 rows of 4" in told(uri, "gs://docs/help")
    uri = gcs_inventory(reports, [shard], ["x.csv"], shard_count=2)
    assert "is not whole: it names 1 files of 2" in told(uri, "gs://docs/help")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"bucket,name,size\ndocs,help/a,1\n", "has no column generation for the token of objects"),
        (b"bucket,name,size,generation\ndocs,help/a,one,5\n", "has a value that is none of its column"),
        (b"bucket,name,size,generation\ndocs,help/a,1,\n", "has a row without token"),
        (b"bucket,name,size,generation\ndocs,help/a,1\n", "cannot be read as an inventory"),
        (b"", "cannot be read as an inventory"),
        (b"\x1f\x8b\x00\xff", "cannot be read as an inventory"),
    ],
)
def test_a_file_that_is_no_inventory_is_told(reports, text, sentence):
    reports.write("inv/x.csv", text)
    assert sentence in told("gs://reports/inv/x.csv", "gs://docs/help")


def test_a_configured_column_that_is_not_there_is_told(reports):
    reports.write("inv/x.csv", b"name,size,generation\n")
    words = told("gs://reports/inv/x.csv", "gs://docs/help", columns={"checksum": "sum"})
    assert "has no column sum for the checksum of objects" in words


@pytest.mark.parametrize("name", ["inv/", "inv/none.csv", "inv/none-manifest.json"])
def test_no_inventory_is_told(reports, name):
    reports.write("inv/readme.txt", b"")
    assert "There is no" in told(f"s3://reports/{name}")


def test_a_manifest_of_something_else_is_told(reports):
    reports.write("inv/manifest.json", b'{"files": []}')
    assert "is no manifest of S3 Inventory or of Storage Insights" in told("s3://reports/inv/manifest.json")
    reports.write("inv/manifest.json", b"<html>")
    assert "is no manifest of an inventory that can be read" in told("s3://reports/inv/manifest.json")


@pytest.mark.parametrize(
    "settings", [{"uri": "/srv/x"}, {"uri": "s3://"}, {"uri": "s3://b/x", "max_age": "3 days"}]
)
def test_settings_that_name_nothing_are_refused(settings):
    with pytest.raises(ValidationError, match="must be a"):
        InventorySettings(**settings)
