"""What every loader does, whatever the store."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.stores.adapters.seen import Seen
from tests.stores.history import DIMENSION, OTHER_DIMENSION, at, rows, scores, similarities, spoil
from transforms.loaders.mapping import DEFAULT, fields_of
from transforms.loaders.protocol import Target
from transforms.model.errors import ConfigError, GuardError, StorageError

REPO = Path(__file__).parents[2]
MOST = 5


def seen(found):
    return {
        key: Seen(
            row["text"], row["source_name"], row["chunk_index"], row["section_path"], row["doc_title"]
        )
        for key, row in found.items()
    }


def assert_holds(stand, table, number, collection="chunks"):
    found = rows(table, number)
    assert stand.rows(collection) == seen(found)
    if stand.has("by_terms") and collection == "chunks":
        assert_holds_terms(stand, found)


def assert_holds_terms(stand, found):
    """All rows in the order of a question with all terms, of which each weighs another: no row has former terms."""
    terms = {term: 1 + term % 97 / 10 for row in found.values() for term in row["sparse_indices"]}
    true = scores(found, dict(sorted(terms.items())))
    ids = stand.by_terms(dict(sorted(terms.items())), len(found))
    error = getattr(stand.adapter, "SPARSE_ERROR", 1e-5)
    assert set(ids) == set(true)
    assert [true[key] for key in ids] == pytest.approx(sorted(true.values(), reverse=True), rel=error)


def assert_finds(stand, found, source=None):
    """The store's nearest rows are as near as those of a scan of the Parquet files."""
    among = {key: row for key, row in found.items() if source in (None, row["source_name"])}
    for question in np.random.default_rng(7).standard_normal(
        (3, len(next(iter(found.values()))["embedding"]))
    ):
        near = similarities(among, question)
        ids = stand.nearest(np.float32(question), MOST, source)
        assert len(set(ids)) == MOST
        assert [near[key] for key in ids] == pytest.approx(
            sorted(near.values())[: -MOST - 1 : -1], abs=1e-5
        )


def test_a_new_collection_holds_every_row_with_its_values(stand, table):
    done = stand.load(at(table, 1))
    assert (done.kind, done.rows, done.written) == ("full", len(rows(table, 1)), len(rows(table, 1)))
    assert_holds(stand, table, 1)


def test_the_nearest_rows_are_those_of_a_scan_of_the_files(stand, table):
    stand.load(at(table, 1))
    assert_finds(stand, rows(table, 1))
    assert_finds(stand, rows(table, 1), "Notes & more")


def test_nights_with_edits_deletions_and_renames_are_followed_by_changes_alone(stand, table):
    stand.load(at(table, 1))
    for number in (2, 3):
        done = stand.load(at(table, number))
        assert done.kind == "changes"
        assert 0 < done.written < 30
        assert_holds(stand, table, number)
        assert_finds(stand, rows(table, number))


def test_nights_that_were_missed_are_made_up_for(stand, table):
    stand.load(at(table, 1))
    assert stand.load(at(table, 3)).kind == "changes"
    assert_holds(stand, table, 3)


def test_a_load_that_is_repeated_changes_nothing(stand, table):
    stand.load(at(table, 2))
    done = stand.load(at(table, 2))
    assert (done.kind, done.written, done.deleted) == ("nothing", 0, 0)
    assert stand.load(at(table, 2), full=True).kind == "full"
    assert_holds(stand, table, 2)


def test_a_rollback_is_followed_and_so_is_the_branch_after_it(stand, table):
    stand.load(at(table, 3))
    assert stand.load(at(table, 2)).kind == "changes"
    assert_holds(stand, table, 2)
    stand.load(at(table, 3))
    assert stand.load(at(table, 4)).kind == "changes"
    assert_holds(stand, table, 4)
    assert_finds(stand, rows(table, 4))


def test_a_load_that_is_killed_is_ended_by_the_next(stand, table):
    for number, kind in ((1, "full"), (2, "changes")):
        at(table, number)
        for share in ("0.5", "1"):
            life = subprocess.run(
                [sys.executable, "-m", "tests.stores.dying", stand.to, str(table), share],
                cwd=REPO,
                check=False,
                capture_output=True,
                text=True,
                timeout=120,
            )
            assert life.returncode == -signal.SIGKILL, life.stderr
        assert stand.load(at(table, number)).kind == kind
        assert_holds(stand, table, number)
        assert stand.load(at(table, number)).kind == "nothing"


def test_a_load_that_died_on_its_way_to_another_branch_is_made_good(stand, table):
    stand.load(at(table, 2))
    with pytest.raises(ZeroDivisionError):
        stand.load(at(table, 3), watch=lambda done, total: 1 // (total - done))
    stand.load(at(table, 4))
    assert_holds(stand, table, 4)


def test_a_recipe_of_another_dimension_is_loaded_in_full(stand, table):
    stand.load(at(table, 4))
    assert stand.load(at(table, 5)).kind == "full"
    assert_holds(stand, table, 5)
    assert len(next(iter(rows(table, 5).values()))["embedding"]) == OTHER_DIMENSION
    assert_finds(stand, rows(table, 5))


def made_anew(table):
    """All snapshots are those of other runs."""
    for manifest in table.glob("snapshots/*/manifest.json"):
        manifest.write_text(manifest.read_text().replace('"run_id": "', '"run_id": "another-'))
    return table


def test_a_table_that_was_made_anew_in_its_place_is_loaded_in_full(stand, table):
    stand.load(at(table, 2))
    assert stand.load(at(made_anew(table), 2)).kind == "full"


@pytest.mark.parametrize("number", [2, 5], ids=["of the same shape", "of another shape"])
def test_another_table_is_refused_unless_it_may_take_over(stand, table, tmp_path, number):
    other = made_anew(shutil.copytree(table, tmp_path / "other"))
    stand.load(at(table, 2))
    for wishes in ({}, {"full": True}, {"since": 2}):
        with pytest.raises(GuardError, match=f"holds another table, the one at {table}; .*--adopt"):
            stand.load(at(other, number), **wishes)
    assert_holds(stand, table, 2)
    assert stand.load(at(other, number), adopt=True).kind == "full"
    assert_holds(stand, other, number)
    with pytest.raises(GuardError, match=f"holds another table, the one at {other}"):
        stand.load(at(table, 2))


def test_a_table_that_was_moved_or_copied_is_the_same(stand, table, tmp_path):
    stand.load(at(table, 1))
    moved = table.rename(tmp_path / "moved")
    assert stand.load(at(moved, 2)).kind == "changes"
    assert_holds(stand, moved, 2)


def test_a_snapshot_that_is_not_there_any_more_is_no_way(stand, table):
    stand.load(at(table, 1))
    at(table, 3)
    (table / "snapshots/000002/manifest.json").unlink()
    assert stand.load(at(table, 3)).kind == "full"
    assert_holds(stand, table, 3)


def test_rows_that_leave_the_filter_are_deleted_from_the_store(stand, table):
    conditions = ["source_name=manual", "doc_id!=06.md"]
    for number in (1, 2, 3):
        stand.load(at(table, number), filter=conditions)
        kept = {
            key: row
            for key, row in rows(table, number).items()
            if row["source_name"] == "manual" and row["doc_id"] != "06.md"
        }
        assert stand.rows() == seen(kept)


def test_only_the_sources_that_are_named_are_loaded(stand, table):
    for number in (1, 2):
        stand.load(at(table, number), sources=["Notes & more"])
        assert {row.source_name for row in stand.rows().values()} == {"Notes & more"}
    assert stand.load(at(table, 2)).kind == "full"
    assert_holds(stand, table, 2)


def test_a_collection_is_switched_in_one_step(stand, table):
    with stand.loader() as loader:
        if not loader.limits.aliases:
            with pytest.raises(ConfigError, match="no aliases"):
                stand.load(at(table, 1), to=f"{stand.to}#live", into="blue", switch=True)
            return
    live = f"{stand.to}#live"
    assert stand.load(at(table, 1), to=live, into="blue", switch=True).switched
    assert_holds(stand, table, 1, "live")
    stand.load(at(table, 2), to=live, into="green")
    assert_holds(stand, table, 1, "live")
    assert stand.load(at(table, 2), to=live, into="green", switch=True).kind == "nothing"
    assert_holds(stand, table, 2, "live")
    done = stand.load(at(table, 3), to=live)
    assert (done.kind, done.collection) == ("changes", "green")
    assert_holds(stand, table, 3, "live")
    assert_holds(stand, table, 1, "blue")


def test_a_name_that_is_a_collection_is_not_made_an_alias(stand, table):
    stand.load(at(table, 1))
    with pytest.raises(ConfigError, match=r"is a collection itself|no aliases"):
        stand.load(at(table, 1), into="green", switch=True)


def test_a_column_that_the_table_has_not_is_refused_before_anything_is_written(stand, table):
    with pytest.raises(ValueError, match="has no column titel"):
        stand.load(at(table, 1), columns=["text", "titel"])


def test_columns_go_under_the_names_that_are_given(stand, table):
    stand.load(at(table, 1), columns={"chunk_id": "key", "embedding": "vec", "text": "body"})
    with stand.loader() as loader:
        assert loader.count("chunks") == len(rows(table, 1))
    assert (
        stand.load(at(table, 2), columns={"chunk_id": "key", "embedding": "vec", "text": "body"}).kind
        == "changes"
    )


def test_all_columns_can_be_loaded(stand, table):
    done = stand.load(at(table, 1), columns=["*"])
    assert done.rows == len(rows(table, 1))
    assert_holds(stand, table, 1)


def foreign(stand, dimension=DIMENSION, count=3):
    """A collection that no load has made."""
    with stand.loader() as loader:
        target = target_of(dimension)
        loader.replace(
            target, iter([batch(target, [f"{n:08}-0000-4000-8000-000000000000" for n in range(count)])])
        )
        loader.finish(target)


def target_of(dimension, sparse=None):
    fields = fields_of({name: name for name in DEFAULT})
    return Target("chunks", "chunk_id", "embedding", fields, dimension, "cosine", "m@1", sparse=sparse)


def batch(target, ids, vector=None):
    vectors = [vector or [1.0] * target.dimension] * len(ids)
    plain = {pa.string(): "x", pa.int32(): 1}
    columns = [[plain.get(field.kind, [])] * len(ids) for field in target.fields]
    columns += [[[1]] * len(ids) for _ in target.sparse_columns]
    arrays = [
        pa.array(values, kind)
        for values, kind in zip([ids, vectors, *columns], target.schema.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=target.schema)


def test_rows_that_no_load_has_written_are_refused_unless_they_are_adopted(stand, table):
    foreign(stand)
    with pytest.raises(GuardError, match="no load has made it"):
        stand.load(at(table, 1))
    assert len(stand.rows()) == 3
    assert stand.load(at(table, 1), adopt=True).kind == "full"
    assert_holds(stand, table, 1)


def test_rows_that_somebody_adds_are_seen_before_the_next_load(stand, table):
    stand.load(at(table, 1))
    with stand.loader() as loader:
        target = target_of(DIMENSION, "sparse" if loader.limits.sparse else None)
        loader.upsert(target, batch(target, ["00000000-0000-4000-8000-000000000000"]))
        loader.finish(target)
    with pytest.raises(GuardError, match="somebody else writes there"):
        stand.load(at(table, 2))
    stand.load(at(table, 2), adopt=True)
    assert_holds(stand, table, 2)


def test_a_collection_of_another_dimension_is_refused(stand, table):
    foreign(stand, DIMENSION + 1)
    with stand.loader() as loader:
        known = loader.describe("chunks").dimension
    assert known in (None, DIMENSION + 1)
    if known:
        with pytest.raises(ConfigError, match=r"17 numbers; those of the table have 16"):
            stand.load(at(table, 1), adopt=True)


def test_a_collection_of_another_metric_is_refused(stand, table):
    with stand.loader() as loader:
        if "l2" not in loader.limits.metrics:
            with pytest.raises(ConfigError, match="does not compare by l2"):
                stand.load(at(table, 1), metric="l2")
            return
    stand.load(at(table, 1), metric="l2")
    with stand.loader() as loader:
        known = loader.describe("chunks").metric
    assert known in (None, "l2")
    if known:
        with pytest.raises(ConfigError, match="compares by l2, and cosine is wanted"):
            stand.load(at(table, 1))
        assert stand.load(at(table, 1), full=True).kind == "full"
        assert_finds(stand, rows(table, 1))


@pytest.mark.parametrize("full", [False, True], ids=["changes", "full"])
def test_a_vector_that_is_none_is_refused_and_nothing_of_its_load_is_seen(stand, table, full):
    stand.load(at(table, 1))
    store = at(table, 2)
    key = spoil(table, 2, "embedding", [1.0] * (DIMENSION - 1) + [float("nan")])
    with pytest.raises(GuardError, match=f"of chunk {key}, `embedding` holds a number that is none"):
        stand.load(store, full=full)
    assert_holds(stand, table, 1)
    stand.load(at(table, 3))
    assert_holds(stand, table, 3)


def test_a_text_with_the_character_nul_is_refused_or_kept_as_it_is(stand, table):
    stand.load(at(table, 1))
    store = at(table, 2)
    key = spoil(table, 2, "text", "one\0two")
    with stand.loader() as loader:
        takes_nul = loader.limits.nul
    if takes_nul:
        stand.load(store)
        assert stand.rows()[key].text == "one\0two"
    else:
        with pytest.raises(GuardError, match=f"of chunk {key}, `text` holds the character NUL"):
            stand.load(store)
        assert_holds(stand, table, 1)


def test_changes_from_a_snapshot_that_is_named_are_loaded(stand, table):
    stand.load(at(table, 1))
    done = stand.load(at(table, 2), since=1)
    assert done.kind == "changes"
    assert_holds(stand, table, 2)
    assert stand.load(at(table, 3), since=1).kind == "changes"
    assert_holds(stand, table, 3)


def test_since_a_snapshot_that_the_collection_does_not_hold_ends_in_a_sentence(stand, table):
    stand.load(at(table, 1))
    with pytest.raises(StorageError, match=r"holds 1\d\d rows and should hold"):
        stand.load(at(table, 3), since=2)
    stand.load(at(table, 3), full=True)
    assert_holds(stand, table, 3)


def test_nothing_but_the_state_is_in_the_state(stand, table):
    stand.load(at(table, 1))
    with stand.loader() as loader:
        assert loader.state("chunks").isascii()
        assert len(loader.state("chunks")) < 4096
        assert loader.state("others") is None
