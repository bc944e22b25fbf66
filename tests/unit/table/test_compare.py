"""What differs between any two snapshots."""

import pytest

from transforms.model.errors import TableError
from transforms.table.compare import Change, compare_snapshots
from transforms.table.publish import publish

NOTHING = Change((), (), ())


@pytest.fixture
def two(store, write_shard, draft):
    """Snapshot 1: s1 with a and b, s2 with c. Snapshot 2: s1 with an edited a and a new d, s2 as it was."""
    first = publish(
        store, draft(1, new=(*write_shard(store, 1, "s1", ["a", "b"]), *write_shard(store, 1, "s2", ["c"])))
    )
    new = write_shard(store, 2, "s1", ["a", "d"], text="other")
    publish(store, draft(2, parent=1, new=new, kept=[file for file in first.files if "s2" in file.path]))
    return store


def test_rows_that_came_changed_and_went_are_named(two):
    change = compare_snapshots(two, 1, 2)["docs"]
    assert change.documents == Change(added=("d",), changed=("a",), gone=("b",))
    assert change.chunks == Change(added=("d-0",), changed=("a-0",), gone=("b-0",))


def test_the_way_back_is_the_other_way_round(two):
    change = compare_snapshots(two, 2, 1)["docs"]
    assert change.documents == Change(added=("b",), changed=("a",), gone=("d",))


def test_a_snapshot_does_not_differ_from_itself(two):
    change = compare_snapshots(two, 2, 2)["docs"]
    assert (change.documents, change.chunks) == (NOTHING, NOTHING)
    assert not change.documents


def test_the_number_of_the_last_change_and_the_version_of_an_object_are_no_content(
    store, write_shard, draft
):
    publish(store, draft(1, new=write_shard(store, 1, "s1", ["a"])))
    publish(store, draft(2, parent=1, new=write_shard(store, 2, "s1", ["a"])))
    assert compare_snapshots(store, 1, 2)["docs"].chunks == NOTHING


def test_files_that_both_have_are_not_opened(two, monkeypatch):
    opened = []
    real = two.open
    monkeypatch.setattr(two, "open", lambda name: opened.append(name) or real(name))
    compare_snapshots(two, 1, 2)
    assert len([name for name in opened if name.endswith(".parquet")]) == 4
    assert not [name for name in opened if "s2" in name]


def test_a_snapshot_that_is_not_there_is_told(two):
    with pytest.raises(TableError, match="no published snapshot 3"):
        compare_snapshots(two, 1, 3)
