"""How an address of a store is read, and what of it may be shown."""

import pytest

from transforms.loaders.address import Address, parse_address
from transforms.model.errors import ConfigError


@pytest.mark.parametrize(
    ("written", "address", "path"),
    [
        ("duckdb:a/b.duckdb", Address("duckdb", "a/b.duckdb", "chunks"), "a/b.duckdb"),
        ("duckdb:///a/b.duckdb#pages", Address("duckdb", "///a/b.duckdb", "pages"), "/a/b.duckdb"),
        ("faiss://a", Address("faiss", "//a", "chunks"), "a"),
        ("lancedb:s3://bucket/x#a b", Address("lancedb", "s3://bucket/x", "a b"), "s3://bucket/x"),
    ],
)
def test_an_address_is_scheme_place_and_collection(written, address, path):
    assert parse_address(written) == address
    assert parse_address(written).path == path


@pytest.mark.parametrize(
    "written", ["", "duckdb", "duckdb:", "a.duckdb", "duckdb://", "duckdb:a#", "/tmp/x", "C:x"]
)
def test_what_is_no_address_is_refused(written):
    with pytest.raises(ConfigError, match="is no address of a store; write SCHEME:PLACE#COLLECTION"):
        parse_address(written)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("postgresql://me:s3cret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://host/db?user=me&password=s3cret", "postgresql://host/db?user=me&password=***"),
        ("qdrant://host:6333?api_key=s3cret", "qdrant://host:6333?api_key=***"),
        ("redis://:s3cret@host:6379", "redis://:***@host:6379"),
        ("duckdb:a@b", "duckdb:a@b"),
    ],
)
def test_a_password_is_not_shown(written, shown):
    address = parse_address(written)
    assert address.shown == shown
    assert "s3cret" in address.url or "s3cret" not in written
    assert address.hidden("no entry with s3cret here") == (
        "no entry with *** here" if "s3cret" in written else "no entry with s3cret here"
    )


def test_a_password_that_is_quoted_in_the_address_is_hidden_as_it_is_too():
    assert parse_address("redis://:p%40ss%2Fword@host").hidden("p@ss/word or p%40ss%2Fword") == "*** or ***"


def test_a_refused_address_does_not_show_its_password():
    with pytest.raises(ConfigError) as error:
        parse_address("//me:s3cret@host/db")
    assert "s3cret" not in str(error.value)


def test_a_store_in_files_is_in_a_folder_that_is_there(tmp_path):
    there = parse_address(f"duckdb:{tmp_path}/chunks.duckdb")
    assert there.local_path() == tmp_path / "chunks.duckdb"
    sentence = f"^duckdb:{tmp_path}/none/x: there is no folder {tmp_path}/none. Make it first, or mend the address.$"
    with pytest.raises(ConfigError, match=sentence):
        parse_address(f"duckdb:{tmp_path}/none/x").local_path()
