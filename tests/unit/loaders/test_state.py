"""What a store says of its collection, as text and back."""

import dataclasses

import pytest

from transforms.loaders.state import Point, SyncState, from_text, is_of, to_text
from transforms.model.errors import TableError
from transforms.storage.local import LocalStore

STATE = SyncState(
    table="/tables/käse", held=Point(3, "k3"), toward=Point(4, "k4"), shape="s", selection="f", dimension=8,
    metric="cosine", model="m@1", rows=5,
)  # fmt: skip


def test_a_state_comes_back_from_its_text_in_ascii():
    assert to_text(STATE).isascii()
    assert from_text(to_text(STATE), "there") == STATE


def test_a_load_that_has_ended_holds_what_it_was_on_the_way_to():
    assert STATE.ended(7) == dataclasses.replace(STATE, held=Point(4, "k4"), toward=None, rows=7)


def test_the_state_of_a_former_version_has_no_encoder():
    former = to_text(STATE).replace(',"encoder":""', "")
    assert "encoder" not in former
    assert from_text(former, "there").encoder == ""


@pytest.mark.parametrize(
    ("table", "same"),
    [
        ("{root}/build/table", True),
        ("file://{root}/build/table", True),
        ("{root}/other/table", False),
        ("gs://build/table", False),
        # As former versions wrote it, who did not say in which folder they were.
        ("build/table", True),
        ("table", True),
        ("able", False),
        ("other/table", False),
    ],
)
def test_a_table_without_the_snapshot_that_is_held_is_known_by_its_place(tmp_path, table, same):
    state = dataclasses.replace(STATE, table=table.format(root=tmp_path))
    assert is_of(state, LocalStore(f"{tmp_path}/build/table")) is same


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"version": 1}'])
def test_what_is_no_state_is_refused_with_a_remedy(text):
    with pytest.raises(
        TableError, match="What there says of its contents cannot be read; load it again with --adopt"
    ):
        from_text(text, "there")


def test_the_state_of_a_newer_program_is_left_alone():
    with pytest.raises(TableError, match="loaded by a newer parquetry"):
        from_text(to_text(dataclasses.replace(STATE, version=2)), "there")
