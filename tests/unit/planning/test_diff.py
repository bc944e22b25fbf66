from transforms.planning.diff import compare
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
    assert diff.shards == ("S", "T")


def test_another_recipe_makes_every_object_changed(plan_tables):
    diff = compare(
        plan_tables.listing(("a", "1")),
        plan_tables.known(("a", "1", "S")),
        plan_tables.rejected(),
        Recipe("x1", "c2", "e1"),
    )
    assert names(diff.reads) == ["a"]
    assert diff.changed == 1


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
