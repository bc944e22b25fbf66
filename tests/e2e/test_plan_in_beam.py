"""Planning as another runner does it: the same plans as in this process, part by part."""

import shutil

import pytest
from apache_beam.testing.util import assert_that, equal_to

from pipeline.dag import plan_sources
from pipeline.job import make_job
from pipeline.run import _local_options, _local_pipeline, run_job
from pipeline.scope import Scope
from transforms.planning import partition
from transforms.planning.selection import Selection
from transforms.planning.source import plan_alone


@pytest.fixture
def second_night(world):
    """The configuration of a table whose corpus has changed since, in two sources."""
    for n in range(40):
        world.put(f"pages/{n:02}.md", f"# Page {n}\n\nText of page {n}.\n")
    config = world.config(
        embedder={"kind": "hash", "dimension": 4},
        sources=[
            {"name": "pages", "root": str(world.corpus / "pages")},
            {"name": "notes", "root": str(world.corpus / "notes")},
        ],
    )
    run_job(config)
    world.put("pages/03.md", "# Page 3\n\nOther text.\n")
    world.put("pages/new.md", "# New\n\nA new page.\n")
    (world.corpus / "pages/04.md").unlink()
    (world.corpus / "pages/05.md").rename(world.corpus / "pages/five.md")
    world.put("pages/bad.md", b"")
    shutil.copytree(world.table, world.corpus / "pages/0-table")
    return config


@pytest.mark.parametrize(
    "scope", [Scope(), Scope(Selection(sources=("pages",), prefix="0")), Scope(full=True)]
)
@pytest.mark.parametrize("parts", [1, 4])
def test_a_runner_makes_the_plans_that_this_process_makes(second_night, monkeypatch, parts, scope):
    monkeypatch.setattr(partition, "OBJECTS_A_PART", 40 // (parts - 1) + 1 if parts > 1 else 500_000)
    job = make_job(second_night, "r", 2, 1, scope=scope)
    expected = [plan_alone(job, source.name) for source in job.sources]
    with _local_pipeline(_local_options([], workers=1)) as pipeline:
        assert_that(plan_sources(pipeline, job), equal_to(expected))
    assert any(plan.shards for plan in expected)
    assert [len(plan.tables) for plan in expected] == [1, 0]
