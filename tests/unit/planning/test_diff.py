"""What a run does with each object, by a listing and the last snapshot."""

import pyarrow as pa
import pytest

from transforms.planning.diff import compare, together
from transforms.planning.partition import part_of
from transforms.planning.selection import Selection
from transforms.stages.job import Recipe

TODAY = Recipe("x1", "c1", "e1")


def names(table):
    return table["object_name"].to_pylist()


def test_a_first_run_reads_everything_in_name_order(plan_tables):
    diff = compare(
        plan_tables.listing(("b", "1"), ("a", "1")), plan_tables.known(), plan_tables.rejected(), TODAY
    )
    assert names(diff.reads) == ["a", "b"]
    assert diff.reads["shard"].to_pylist() == [None, None]
    assert (diff.new, diff.changed, diff.unchanged, diff.gone.num_rows) == (2, 0, 0, 0)


def test_new_changed_unchanged_and_gone_are_told_apart(plan_tables):
    diff = compare(
        plan_tables.listing(("same", "1"), ("edited", "2"), ("new", "1")),
        plan_tables.known(("same", "1", "S"), ("edited", "1", "S"), ("gone", "1", "T")),
        plan_tables.rejected(),
        TODAY,
    )
    assert names(diff.reads) == ["edited", "new"]
    assert diff.reads["shard"].to_pylist() == ["S", None]
    assert names(diff.gone) == ["gone"]
    assert (diff.new, diff.changed, diff.unchanged) == (1, 1, 1)
    assert diff.shards.to_pylist() == [
        {"shard": "S", "objects": 2, "bytes": 20, "first": "edited"},
        {"shard": "T", "objects": 1, "bytes": 10, "first": "gone"},
    ]


@pytest.mark.parametrize(
    ("made_by", "reads", "redo"),
    [
        (Recipe("x0", "c1", "e1"), ["a"], []),
        (Recipe("x1", "c0", "e1"), [], ["a"]),
        (Recipe("x1", "c1", "e0"), [], ["a"]),
        (TODAY, [], []),
    ],
)
def test_another_recipe_redoes_the_object_and_reads_it_only_to_extract_it(
    plan_tables, made_by, reads, redo
):
    diff = compare(
        plan_tables.listing(("a", "1")),
        plan_tables.known(("a", "1", "S"), recipe=made_by),
        plan_tables.rejected(),
        TODAY,
    )
    assert (names(diff.reads), names(diff.redo)) == (reads, redo)
    assert diff.changed == len(reads) + len(redo)


def test_another_version_of_the_same_checksum_is_touched_and_not_read(plan_tables):
    def differ(checksum):
        return compare(
            plan_tables.listing(("a", "2"), checksum=checksum),
            plan_tables.known(("a", "1", "S"), checksum="md5:x"),
            plan_tables.rejected(),
            TODAY,
        )

    assert (names(differ("md5:x").reads), names(differ("md5:x").touched)) == ([], ["a"])
    assert (names(differ("md5:y").reads), names(differ("md5:y").touched)) == (["a"], [])
    assert (names(differ("").reads), names(differ("").touched)) == (["a"], [])


def test_a_touched_object_of_another_chunker_is_redone_and_not_read(plan_tables):
    diff = compare(
        plan_tables.listing(("a", "2"), checksum="md5:x"),
        plan_tables.known(("a", "1", "S"), checksum="md5:x", recipe=Recipe("x1", "c0", "e1")),
        plan_tables.rejected(),
        TODAY,
    )
    assert (names(diff.reads), names(diff.touched), names(diff.redo)) == ([], ["a"], ["a"])
    assert diff.changed == 1


def test_a_full_run_reads_everything_and_forgets_every_rejection(plan_tables):
    diff = compare(
        plan_tables.listing(("a", "1"), ("bad", "1")),
        plan_tables.known(("a", "1", "S")),
        plan_tables.rejected(("bad", "1", "corrupt")),
        TODAY,
        full=True,
    )
    assert names(diff.reads) == ["a", "bad"]
    assert diff.kept_rejections.num_rows == 0


def test_an_object_with_a_refused_part_is_read_for_another_chunker(plan_tables):
    diff = compare(
        plan_tables.listing(("a", "1")),
        plan_tables.known(("a", "1", "S"), recipe=Recipe("x1", "c0", "e1")),
        plan_tables.rejected(("a", "1", "corrupt"), recipe=Recipe("x1", "c0", "e1")),
        TODAY,
    )
    assert (names(diff.reads), names(diff.redo)) == (["a"], [])


def test_what_a_run_is_not_about_stays_as_it_is(plan_tables):
    listing = plan_tables.listing(("in/new", "1"), ("in/old", "2"), ("out/new", "1"), ("out/old", "2"))
    known = plan_tables.known(
        ("in/gone", "1", "S"), ("in/old", "1", "S"), ("out/gone", "1", "T"), ("out/old", "1", "T")
    )
    rejected = plan_tables.rejected(("in/bad", "1", "corrupt"), ("out/bad", "1", "corrupt"))
    diff = compare(listing, known, rejected, TODAY, Selection(prefix="in/"))
    assert names(diff.reads) == ["in/new", "in/old"]
    assert names(diff.gone) == ["in/gone"]
    assert names(diff.kept_rejections) == ["out/bad"]
    assert (diff.new, diff.changed, diff.unchanged) == (1, 1, 2)


def test_a_run_about_what_was_written_lately_deletes_nothing(plan_tables):
    known = plan_tables.known(("a", "1", "S"), ("gone", "1", "S"))
    for modified, read in ((999, []), (1000, ["a"])):
        listing = plan_tables.listing(("a", "2"), modified=modified)
        diff = compare(listing, known, plan_tables.rejected(), TODAY, Selection(since=1000))
        assert (names(diff.reads), names(diff.gone)) == (read, [])


def test_a_run_about_a_recipe_takes_up_the_rows_that_were_made_by_it(plan_tables):
    old = Recipe("x1", "c0", "e1")
    known = pa.concat_tables(
        [
            plan_tables.known(("a", "1", "S"), recipe=old, about="c0"),
            plan_tables.known(("b", "1", "S"), recipe=Recipe("x1", "c00", "e1"), about="c01"),
        ]
    )
    listing = plan_tables.listing(("a", "1"), ("b", "1"), ("new", "1"))
    diff = compare(listing, known, plan_tables.rejected(), TODAY, Selection(recipe="c0"))
    assert (names(diff.reads), names(diff.redo)) == ([], ["a"])


def test_parts_compared_alone_give_what_the_whole_gives(plan_tables):
    rows = [(f"{n:03}", "1") for n in range(200)]
    listing = plan_tables.listing(*rows[:150], *((name, "2") for name, _ in rows[190:]))
    known = plan_tables.known(*((name, token, f"S{int(name) % 7}") for name, token in rows[100:]))
    rejected = plan_tables.rejected(
        ("003", "1", "corrupt"), ("149", "1", "corrupt"), ("999", "1", "corrupt")
    )
    whole = compare(listing, known, rejected, TODAY)
    parts = []
    for part in range(3):

        def own(table, part=part):
            return table.filter(pa.array(part_of(table["object_name"], 3) == part))

        parts.append(compare(own(listing), own(known), own(rejected), TODAY))
    assert all(0 < part.listed < whole.listed for part in parts)
    assert together(parts) == whole


def test_a_rejection_of_the_listed_version_is_kept_and_not_tried_again(plan_tables):
    diff = compare(
        plan_tables.listing(("bad", "1"), ("good", "1")),
        plan_tables.known(("good", "1", "S")),
        plan_tables.rejected(("bad", "1", "pdf_encrypted")),
        TODAY,
    )
    assert names(diff.reads) == []
    assert names(diff.kept_rejections) == ["bad"]


def test_a_rejected_object_is_tried_again_once_it_or_the_recipe_changes(plan_tables):
    for version, recipe in (("2", TODAY), ("1", Recipe("x2", "c1", "e1"))):
        diff = compare(
            plan_tables.listing(("bad", version)),
            plan_tables.known(),
            plan_tables.rejected(("bad", "1", "corrupt")),
            recipe,
        )
        assert names(diff.reads) == ["bad"]
        assert diff.kept_rejections.num_rows == 0


def test_what_could_not_be_read_is_tried_again_in_every_run(plan_tables):
    diff = compare(
        plan_tables.listing(("a", "1")),
        plan_tables.known(),
        plan_tables.rejected(("a", "1", "unreadable")),
        TODAY,
    )
    assert names(diff.reads) == ["a"]


def test_a_rejected_object_that_is_gone_is_forgotten(plan_tables):
    diff = compare(
        plan_tables.listing(), plan_tables.known(), plan_tables.rejected(("bad", "1", "corrupt")), TODAY
    )
    assert diff.kept_rejections.num_rows == 0


def test_a_stale_document_whose_new_version_is_bad_stays_as_it_is(plan_tables):
    diff = compare(
        plan_tables.listing(("a", "2")),
        plan_tables.known(("a", "1", "S"), status="stale"),
        plan_tables.rejected(("a", "2", "corrupt")),
        TODAY,
    )
    assert names(diff.reads) == []
    assert names(diff.gone) == []
    assert names(diff.kept_rejections) == ["a"]


def test_a_stale_document_whose_old_version_came_back_is_read(plan_tables):
    diff = compare(
        plan_tables.listing(("a", "1")),
        plan_tables.known(("a", "1", "S"), status="stale"),
        plan_tables.rejected(("a", "2", "corrupt")),
        TODAY,
    )
    assert names(diff.reads) == ["a"]


def test_an_object_of_several_documents_counts_once(plan_tables):
    diff = compare(
        plan_tables.listing(("a", "1")),
        plan_tables.known(("a", "1", "S"), ("a", "1", "S")),
        plan_tables.rejected(),
        TODAY,
    )
    assert (diff.unchanged, diff.reads.num_rows) == (1, 0)


def test_names_that_differ_in_normal_form_are_two_objects(plan_tables):
    nfc, nfd = "caf\u00e9.md", "cafe\u0301.md"
    diff = compare(
        plan_tables.listing((nfc, "1"), (nfd, "1")),
        plan_tables.known((nfc, "1", "S")),
        plan_tables.rejected(),
        TODAY,
    )
    assert names(diff.reads) == [nfd]


def test_an_object_whose_rows_name_another_place_is_taken_up(plan_tables):
    diff = compare(
        plan_tables.listing(("a", "1")),
        plan_tables.known(("a", "1", "S"), in_place=False),
        plan_tables.rejected(),
        TODAY,
    )
    assert (names(diff.redo), diff.changed) == (["a"], 1)


def test_a_bad_object_with_rows_at_another_place_is_tried_again_and_refused_anew(plan_tables):
    diff = compare(
        plan_tables.listing(("a", "2")),
        plan_tables.known(("a", "1", "S"), status="stale", in_place=False),
        plan_tables.rejected(("a", "2", "corrupt")),
        TODAY,
    )
    assert names(diff.reads) == ["a"]
    assert diff.kept_rejections.num_rows == 0


def test_an_object_with_rows_in_several_shards_counts_once_and_names_them_all(plan_tables):
    known = plan_tables.known(("big", "1", "S"), ("a", "1", "S"), ("big", "1", "T"))
    diff = compare(plan_tables.listing(("a", "1")), known, plan_tables.rejected(), TODAY)
    assert (names(diff.gone), diff.unchanged) == (["big"], 1)
    assert diff.spread.to_pylist() == [
        {"object_name": "big", "shard": "S"},
        {"object_name": "big", "shard": "T"},
    ]
    assert [(row["shard"], row["objects"]) for row in diff.shards.to_pylist()] == [("S", 2), ("T", 1)]


def test_an_object_in_several_shards_is_read_to_be_cut_otherwise_but_not_to_be_embedded(plan_tables):
    rows = (("big", "1", "S"), ("big", "1", "T"))
    for recipe, read in ((Recipe("x1", "c2", "e1"), True), (Recipe("x1", "c1", "e2"), False)):
        known = plan_tables.known(*rows, today=recipe)
        diff = compare(plan_tables.listing(("big", "1")), known, plan_tables.rejected(), recipe)
        assert (names(diff.reads), names(diff.redo)) == ((["big"], []) if read else ([], ["big"]))


def test_an_object_of_which_a_range_could_not_be_read_is_read_again_with_its_lasting_faults(plan_tables):
    diff = compare(
        plan_tables.listing(("big", "1")),
        plan_tables.known(("big", "1", "S"), ("big", "1", "T")),
        plan_tables.rejected(("big", "1", "corrupt"), ("big", "1", "unreadable")),
        TODAY,
    )
    assert names(diff.reads) == ["big"]
    assert diff.kept_rejections.num_rows == 0
