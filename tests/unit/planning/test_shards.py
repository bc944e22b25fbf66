"""How work is cut into shards, and which of them are kept."""

from hypothesis import given
from hypothesis import strategies as st

from transforms.model.objects import ObjectInfo, RecordRange
from transforms.model.shard import ShardPlan
from transforms.planning.compact import MAX_OBJECTS
from transforms.planning.diff import compare
from transforms.planning.plan import Large
from transforms.planning.shards import plan_source, shard_ends
from transforms.stages.job import Recipe

KIB = 1024
TODAY = Recipe("x1", "c1", "e1")


def infos(*sizes):
    return [ObjectInfo(f"{n:05}.md", size, "1") for n, size in enumerate(sizes)]


@given(st.lists(st.integers(0, 40 * KIB), max_size=200))
def test_shards_are_gapless_and_hold_at_most_twice_the_target_or_one_object(sizes):
    objects = infos(*sizes)
    ends = shard_ends(objects, 16 * KIB)
    assert ends == sorted(set(ends))
    assert (ends[-1] if ends else 0) == len(objects)
    for start, end in zip([0, *ends], ends, strict=False):
        assert end - start == 1 or sum(sizes[start:end]) <= 32 * KIB


def test_empty_objects_do_not_make_a_shard_without_end():
    objects = infos(*[0] * (MAX_OBJECTS + 1))
    assert shard_ends(objects, KIB) == [MAX_OBJECTS, MAX_OBJECTS + 1]


def test_one_more_name_moves_few_cuts():
    objects = infos(*[KIB] * 2000)
    more = sorted([*objects, ObjectInfo("00700-b.md", KIB, "1")], key=lambda info: info.name)

    def shards(of):
        ends = shard_ends(of, 32 * KIB)
        return {tuple(info.name for info in of[s:e]) for s, e in zip([0, *ends], ends, strict=False)}

    before, after = shards(objects), shards(more)
    assert len(before) > 20
    assert len(after - before) <= 4


def test_a_change_rebuilds_its_shard_and_keeps_the_others(plan_tables):
    diff = compare(
        plan_tables.listing(("a", "2"), ("b", "1"), ("n", "1")),
        plan_tables.known(("a", "1", "S"), ("b", "1", "T"), ("c", "1", "U")),
        plan_tables.rejected(),
        Recipe("x1", "c1", "e1"),
    )
    plan = plan_source("s", diff, "recipe", 8 * KIB)
    assert [(p.shard, [i.name for i in p.reads], p.drops, p.parents) for p in plan.shards[:2]] == [
        ("S", ["a"], (), ("S",)),
        ("U", [], ("c",), ("U",)),
    ]
    assert [i.name for i in plan.shards[2].reads] == ["n"]
    assert plan.kept_shards == ("T",)
    assert (plan.listed, plan.new, plan.changed, plan.unchanged, plan.gone) == (3, 1, 1, 1, 1)


def test_a_shards_name_depends_on_names_and_its_inputs_on_versions_and_recipe(plan_tables):
    def only_shard(token, recipe):
        diff = compare(
            plan_tables.listing(("a", token)),
            plan_tables.known(),
            plan_tables.rejected(),
            Recipe("x", "c", "e"),
        )
        return plan_source("s", diff, recipe, KIB).shards[0]

    first, touched, other = only_shard("1", "r"), only_shard("2", "r"), only_shard("1", "q")
    assert first.shard == touched.shard == other.shard
    assert len({first.inputs, touched.inputs, other.inputs}) == 3


def test_a_new_object_that_looks_like_a_gone_one_counts_as_moved(plan_tables):
    diff = compare(
        plan_tables.listing(("new/a", "v1"), ("new/b", "v9")),
        plan_tables.known(("old/a", "v1", "S"), ("old/c", "v3", "S")),
        plan_tables.rejected(),
        Recipe("x1", "c1", "e1"),
    )
    plan = plan_source("s", diff, "recipe", 8 * KIB)
    assert (plan.new, plan.gone, plan.moved, plan.moved_bytes) == (2, 2, 1, 10)


def many_nights(plan_tables, shards, changed=()):
    """The plan of a night with one new object, for so many shards of one small object each."""
    known = [(f"{n:03}", "1", f"S{n:03}") for n in range(shards)]
    listing = [(name, "2" if name in changed else "1") for name, _, _ in known]
    diff = compare(
        plan_tables.listing(*listing, ("new", "1")),
        plan_tables.known(*known),
        plan_tables.rejected(),
        Recipe("x1", "c1", "e1"),
    )
    return plan_source("s", diff, "recipe", 4 * KIB)


def test_a_few_small_shards_are_left_alone_and_many_become_one(plan_tables):
    few, many = many_nights(plan_tables, 7), many_nights(plan_tables, 8)
    assert (len(few.shards), len(few.kept_shards)) == (1, 7)
    joined, new = many.shards
    assert joined.parents == tuple(f"S{n:03}" for n in range(8))
    assert (joined.reads, joined.drops, many.kept_shards) == ((), (), ())
    assert joined.shard not in joined.parents
    assert [info.name for info in new.reads] == ["new"]


def test_a_joined_shard_does_the_work_of_all_it_continues(plan_tables):
    joined = many_nights(plan_tables, 9, changed={"002", "007"}).shards[0]
    assert [info.name for info in joined.reads] == ["002", "007"]
    assert len(joined.parents) == 9


def test_joined_shards_hold_at_most_the_target(plan_tables):
    plan = many_nights(plan_tables, 1000)
    sizes = [10 * len(one.parents) for one in plan.shards if one.parents]
    assert max(sizes) <= 4 * KIB
    assert len(sizes) == 3


def test_nothing_is_joined_in_a_night_without_work(plan_tables):
    rows = [(f"{n:03}", "1", f"S{n:03}") for n in range(20)]
    diff = compare(
        plan_tables.listing(*((name, token) for name, token, _ in rows)),
        plan_tables.known(*rows),
        plan_tables.rejected(),
        Recipe("x1", "c1", "e1"),
    )
    plan = plan_source("s", diff, "recipe", 4 * KIB)
    assert (plan.shards, len(plan.kept_shards)) == ((), 20)


def test_shards_of_a_quarter_of_the_target_are_not_small(plan_tables):
    rows = [(f"{n:03}", "1", f"S{n:03}") for n in range(20)]
    diff = compare(
        plan_tables.listing(*((name, token) for name, token, _ in rows), ("new", "1"), size=KIB),
        plan_tables.known(*rows, size=KIB),
        plan_tables.rejected(),
        Recipe("x1", "c1", "e1"),
    )
    assert len(plan_source("s", diff, "recipe", 4 * KIB).kept_shards) == 20


def test_an_object_that_is_gone_leaves_all_shards_that_have_rows_of_it(plan_tables):
    known = plan_tables.known(("big", "1", "S"), ("big", "1", "T"), ("a", "1", "T"), ("b", "1", "U"))
    listing = plan_tables.listing(("a", "1"), ("b", "1"))
    plan = plan_source("s", compare(listing, known, plan_tables.rejected(), TODAY), "recipe", 8 * KIB)
    assert [(one.shard, one.drops) for one in plan.shards] == [("S", ("big",)), ("T", ("big",))]
    assert (plan.kept_shards, plan.gone) == (("U",), 1)


def test_a_shard_that_others_continue_keeps_the_documents_of_its_other_objects(plan_tables):
    known = plan_tables.known(("big", "1", "S"), ("a", "1", "S"), ("b", "1", "U"))
    listing = plan_tables.listing(("a", "1"), ("b", "1"), ("big", "2"))
    mine = ShardPlan("s", "R", "", parents=("S",), takes=(((1, 9),),))
    large = Large(frozenset(["big"]), (mine,), leaving={"S": 1}, stays={"S": ((0, 1),)})
    diff = compare(listing, known, plan_tables.rejected(), TODAY)
    plan = plan_source("s", diff, "recipe", 8 * KIB, large)
    assert [(one.shard, one.parents, one.takes, one.reads) for one in plan.shards] == [
        ("S", ("S",), (((0, 1),),), ()),
        ("R", ("S",), (((1, 9),),), ()),
    ]
    assert plan.kept_shards == ("U",)


def test_the_inputs_of_a_shard_tell_which_records_it_reads(plan_tables):
    diff = compare(plan_tables.listing(), plan_tables.known(), plan_tables.rejected(), TODAY)

    def inputs(start):
        info = ObjectInfo("x", 9, "1", records=RecordRange(((start, 9),), 0, "sum"))
        large = Large(plans=(ShardPlan("s", "R", "", reads=(info,)),))
        return plan_source("s", diff, "recipe", 8 * KIB, large).shards[0].inputs

    assert inputs(0) == inputs(0) != inputs(1)
