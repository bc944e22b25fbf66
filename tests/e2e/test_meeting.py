"""Runs that meet on one table, in one process: the cheap side of ``test_kills.py``."""

import datetime
import json

import pytest

from pipeline import run as pipeline_run
from pipeline.run import run_job
from transforms.embedders import hashed, registry
from transforms.embedders.hashed import HashEmbedder
from transforms.model.errors import GuardError
from transforms.table import lease

CHEAP = {"kind": "hash", "dimension": 4}


@pytest.fixture
def night(world):

    def run(**options):
        return run_job(world.config(embedder=CHEAP), allow_deletes=True, **options)

    return run


def claim_from_afar(world, number, seconds):
    """A claim of a run on another machine, which is good for so many seconds more."""
    ends = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    path = world.snapshot(number) / "_plan/_claim.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "run_id": "20261130T010000Z-0123abcd",
        "host": "night-worker",
        "pid": 4711,
        "since": "2026-11-30T01:00:00+00:00",
        "expires_at": ends.isoformat(),
        "machine": "elsewhere",
        "started": "1",
    }
    path.write_text(json.dumps(record))


def test_a_run_elsewhere_is_named_with_the_way_to_take_its_place(world, night):
    claim_from_afar(world, 1, 90)
    words = (
        r"Another run is at work on .*: 20261130T010000Z-0123abcd on night-worker, process 4711, "
        r"since 2026-11-30T01:00:00\+00:00\. .*--take-over"
    )
    with pytest.raises(GuardError, match=words):
        night()
    assert not (world.table / "latest.json").exists()


def test_a_dead_run_elsewhere_is_taken_over_on_a_persons_word_or_when_its_claim_has_run_out(world, night):
    claim_from_afar(world, 1, 90)
    assert night(take_over=True).snapshot == 1
    world.put("new.md", "# New\n\nA new page.\n")
    claim_from_afar(world, 2, -1)
    assert night().snapshot == 2


class Sleepy(HashEmbedder):
    """Stands still in the middle of a run, and meanwhile other things happen."""

    meanwhile = None

    def embed(self, texts, task="document"):
        happens, Sleepy.meanwhile = Sleepy.meanwhile, None
        if happens:
            happens()
        return super().embed(texts, task)


@pytest.fixture
def sleepy(monkeypatch):
    monkeypatch.setattr(registry, "_built", {})
    monkeypatch.setattr(hashed, "build", lambda settings: Sleepy(settings.dimension))
    return Sleepy


def test_a_run_that_wakes_up_when_another_has_published_in_its_place_changes_nothing(
    world, night, sleepy, monkeypatch
):
    def another_publishes():
        # The first run's process counts as gone.
        monkeypatch.setattr(lease, "_started", lambda pid: "a second life")
        world.put("about.md", "# Pumps\n\nThe vent valve is shut by now.\n")
        assert night().snapshot == 1
        published.update({path: path.read_bytes() for path in world.table.rglob("*.parquet")})

    published = {}
    sleepy.meanwhile = another_publishes
    with pytest.raises(GuardError, match="has got snapshot 1 since this run planned snapshot 1"):
        night()
    assert published
    assert {path: path.read_bytes() for path in world.table.rglob("*.parquet")} == published


def test_a_run_that_found_nothing_new_leaves_what_another_has_published_meanwhile(
    world, night, monkeypatch
):
    night()

    real = pipeline_run._run

    def slow(job, config, beam_args):
        outcome = real(job, config, beam_args)
        assert outcome.status == "unchanged"
        monkeypatch.setattr("pipeline.run._run", real)
        monkeypatch.setattr(lease, "_started", lambda pid: "a second life")
        world.put("about.md", "# Pumps\n\nThe vent valve is shut by now.\n")
        assert night().snapshot == 2
        return outcome

    monkeypatch.setattr("pipeline.run._run", slow)
    with pytest.raises(GuardError, match="has got snapshot 2 since this run planned snapshot 2"):
        night()
    assert any("shut by now" in row["text"] for row in world.rows(number=2))
    assert (world.snapshot(2) / "manifest.json").exists()


def test_a_run_whose_place_was_taken_stops_at_its_next_shard(world, night, sleepy):
    sleepy.meanwhile = lambda: claim_from_afar(world, 1, 90)
    with pytest.raises(GuardError, match=r"Snapshot 1 of .* was taken over by 20261130T010000Z-0123abcd"):
        night()
    assert not list(world.table.rglob("*.parquet"))


def test_a_rollback_under_a_run_leaves_it_nothing_to_publish(world, night, sleepy):
    from transforms.storage.registry import open_store
    from transforms.table.history import rollback

    night()
    world.put("about.md", "# Pumps\n\nAnother text.\n")
    night()
    world.put("about.md", "# Pumps\n\nA third text.\n")
    sleepy.meanwhile = lambda: rollback(open_store(str(world.table)), 1)
    with pytest.raises(GuardError, match="was at snapshot 2 and is at 1 now: another run or a rollback"):
        night()
    assert world.latest() == 1
    assert night().snapshot == 3
