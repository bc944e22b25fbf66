from hypothesis import given
from hypothesis import strategies as st

from transforms.model.objects import ObjectInfo
from transforms.planning.diff import compare
from transforms.planning.shards import MAX_OBJECTS, plan_source, shard_ends
from transforms.stages.job import Recipe

KIB = 1024


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
    assert [(p.shard, [i.name for i in p.reads], p.drops, p.previous) for p in plan.shards[:2]] == [
        ("S", ["a"], (), True),
        ("U", [], ("c",), True),
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
