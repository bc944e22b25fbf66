"""Runs about a part of the table, or of everything anew; the plan before them; many nights of a few documents."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.run import plan_job, run_job
from pipeline.scope import Scope, Words, scope_of, with_budget
from transforms.embedders.hashed import HashEmbedder
from transforms.model.errors import ConfigError, GuardError
from transforms.planning.selection import Selection

HASH = {"kind": "hash", "dimension": 4}
DEMO = Path(__file__).parents[3] / "shared" / "demo"


@pytest.fixture
def nights(world):
    """Runs without Beam; ``run(selection, full=...)``."""

    def run(selection=None, *, full=False, **changes):
        scope = Scope(**({"selection": selection} if selection else {}), full=full)
        return run_job(world.config(**({"embedder": HASH} | changes)), allow_deletes=True, scope=scope)

    return run


def edited(world):
    """Both documents of the corpus with a sentence more, and one more document in a folder of its own."""
    for name in ("about.md", "notes/radio.txt"):
        path = world.corpus / name
        path.write_text(path.read_text() + "\nA sentence more.\n")
    world.put("notes/new.txt", "A new note.\n")


def texts(world):
    return {row["doc_id"]: row["text"] for row in world.rows("documents")}


def test_a_run_about_a_prefix_leaves_everything_else_as_it_is(nights, world):
    nights()
    edited(world)
    (world.corpus / "about.md").unlink()
    nights(Selection(prefix="notes/"))
    found = texts(world)
    assert sorted(found) == ["about.md", "notes/new.txt", "notes/radio.txt"]
    assert "A sentence more" in found["notes/radio.txt"]
    assert "A sentence more" not in found["about.md"]
    nights()
    assert sorted(texts(world)) == ["notes/new.txt", "notes/radio.txt"]


def test_a_run_about_a_source_lists_no_other(nights, world):
    sources = [
        {"name": "notes", "root": str(world.corpus / "notes")},
        {"name": "top", "root": str(world.corpus), "include": ["*.md"]},
    ]
    nights(sources=sources)
    edited(world)
    outcome = nights(Selection(sources=("notes",)), sources=sources)
    assert outcome.status == "published"
    found = texts(world)
    assert "A sentence more" in found["radio.txt"]
    assert "A sentence more" not in found["about.md"]
    assert nights(sources=sources).status == "published"
    assert nights(sources=sources).status == "unchanged"


def test_a_run_about_what_was_written_since_a_date_deletes_nothing(nights, world):
    nights()
    edited(world)
    os.utime(world.corpus / "about.md", (1_000_000, 1_000_000))
    (world.corpus / "notes/new.txt").unlink()
    nights(Selection(since=2_000_000))
    assert "A sentence more" in texts(world)["notes/radio.txt"]
    assert "A sentence more" not in texts(world)["about.md"]


def test_a_backfill_of_a_recipe_takes_up_the_rows_that_were_made_by_it(nights, world):
    nights()
    before = world.rows("documents")[0]["chunk_recipe"]
    world.settings = {"size": {"target": 30, "max": 40}, "overlap": {"size": 0}}
    nights(Selection(prefix="about"))
    recipes = [row["chunk_recipe"] for row in world.rows("documents")]
    assert recipes[0] != before == recipes[1]
    outcome = nights(Selection(recipe=before[:8]))
    assert outcome.work["chunked"] == 1
    assert {row["chunk_recipe"] for row in world.rows("documents")} == {recipes[0]}


def test_a_new_model_is_refused_for_a_part_of_the_table(nights, world):
    nights()
    with pytest.raises(GuardError, match="vectors of another model"):
        nights(Selection(prefix="notes/"), embedder={"kind": "hash", "dimension": 8})
    assert world.latest() == 1


def test_a_full_run_makes_everything_again_and_changes_no_equal_row(nights, world):
    nights()
    before = world.rows()
    outcome = nights(full=True)
    assert outcome.work == {"opened": 2, "extracted": 2, "chunked": 2}
    assert outcome.counts["embedded"] == len({row["embed_key"] for row in before})
    assert outcome.status == "unchanged"
    assert world.rows() == before


def test_a_full_run_brings_the_vectors_that_the_model_gives_today(nights, world, monkeypatch):
    nights()
    real = HashEmbedder.embed
    monkeypatch.setattr(HashEmbedder, "embed", lambda *args, **more: real(*args, **more) * 2)
    nights(full=True)
    assert {row["changed_in"] for row in world.rows()} == {2}
    assert all(abs(sum(x * x for x in row["embedding"]) - 4) < 0.01 for row in world.rows())


def test_words_that_name_nothing_are_refused(world):
    config = world.config()
    with pytest.raises(ConfigError, match="There is no source `dosc`"):
        scope_of(Words(sources=["dosc"]), config)
    with pytest.raises(ConfigError, match="--since wants a date"):
        scope_of(Words(since="yesterday"), config)
    assert scope_of(Words(since="1970-01-02"), config).selection.since == 86_400
    assert with_budget(config, Words(max_tokens=7, max_cost=0.5)).limits.max_tokens == 7


def test_a_plan_says_what_a_run_would_do_and_writes_nothing(nights, world, tmp_path, capsys, monkeypatch):
    nights()
    edited(world)
    (world.corpus / "about.md").rename(world.corpus / "over.md")
    before = sorted(path.relative_to(world.table) for path in world.table.rglob("*"))
    job, plans = plan_job(world.config(embedder=HASH))
    assert (job.parent, plans[0].new, plans[0].changed, plans[0].gone) == (1, 2, 1, 1)
    path = tmp_path / "job.yaml"
    path.write_text(json.dumps(world.config(embedder=HASH).model_dump(mode="json")))
    monkeypatch.setattr("sys.argv", ["parquetry", "plan", str(path), "--json"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    said = json.loads(capsys.readouterr().out)
    docs = said["sources"]["docs"]
    assert (docs["new"], docs["changed"], docs["gone"], docs["shards_rebuilt"]) == (2, 1, 1, 1)
    assert (said["cost"], said["problems"]) == (0.0, {})
    assert 0 < docs["tokens"] < 1_000
    monkeypatch.setattr("sys.argv", ["parquetry", "plan", str(path)])
    with pytest.raises(SystemExit):
        main()
    assert "Nothing was written" in capsys.readouterr().out
    assert sorted(path.relative_to(world.table) for path in world.table.rglob("*")) == before


def test_a_renamed_file_is_moved_in_the_plan_and_costs_no_tokens(nights, world):
    nights()
    (world.corpus / "about.md").rename(world.corpus / "over.md")
    _, plans = plan_job(world.config(embedder=HASH))
    size = (world.corpus / "over.md").stat().st_size
    assert (plans[0].moved, plans[0].moved_bytes, plans[0].work_bytes) == (1, size, size)


def test_many_nights_of_a_new_document_leave_few_shards_and_the_rows_of_a_first_run(nights, world):
    """The layout of shards depends on the history, the rows do not."""
    embedded = 0
    for night in range(30):
        world.put(f"diary/{night:02}.md", f"# Day {night}\n\nWhat happened on day {night}.\n")
        embedded += nights().counts["embedded"]
        files = list(world.snapshot(world.latest()).rglob("chunks/**/*.parquet"))
        assert len(files) <= 9
    assert embedded == len(world.rows())
    assert {row["changed_in"] for row in world.rows() if row["doc_id"].startswith("diary/05")} == {6}

    def rows():
        left_out = ("changed_in", "object_token")
        return [
            {name: value for name, value in row.items() if name not in left_out}
            for kind in ("chunks", "documents")
            for row in world.rows(kind)
        ]

    nightly = rows()
    shutil.rmtree(world.table)
    nights()
    assert nightly == rows()


def test_a_page_edited_every_night_leaves_a_table_as_large_as_the_corpus(nights, world):
    for day in range(12):
        world.put("page.md", f"# Page\n\nThe state of day {day}.\n")
        nights()
        rows = [row for row in world.rows() if row["doc_id"] == "page.md"]
        assert [row["text"].strip().endswith(f"day {day}.") for row in rows] == [True]


@pytest.mark.skipif(not DEMO.is_dir(), reason="the shared demo corpus is not here")
def test_the_second_night_of_the_demo_pays_for_what_changed_alone(nights, world):
    """One text edited, one file new, one removed, one renamed, one touched."""
    shutil.rmtree(world.corpus)
    shutil.copytree(DEMO / "corpus", world.corpus)
    support = world.corpus / "support"
    nights(embedder={"kind": "static"})
    before = {row["embed_key"] for row in world.rows()}
    shutil.copy(DEMO / "second_run/haeufige-fragen.md", support / "de/haeufige-fragen.md")
    shutil.copy(DEMO / "second_run/2024-06-19-odometry.eml", support)
    (support / "club-evening.pptx").unlink()
    (support / "glossary.rst").rename(support / "words.rst")
    os.utime(support / "parts.csv", (1, 1))
    outcome = nights(embedder={"kind": "static"})
    rows = world.rows()
    names = {row["object_name"] for row in world.rows("documents")}
    assert {"support/club-evening.pptx", "support/glossary.rst"} & names == set()
    assert {row["doc_id"].partition("#")[0] for row in rows if row["changed_in"] == 2} == {
        "support/de/haeufige-fragen.md",
        "support/2024-06-19-odometry.eml",
        "support/words.rst",
    }
    assert not any("12,4 V" in row["text"] for row in rows if row["doc_id"].endswith("fragen.md"))
    # Edited, new, renamed and touched files are opened; text is made of the first two.
    assert outcome.work == {"opened": 4, "extracted": 2, "chunked": 3}
    new = [row for row in rows if row["embed_key"] not in before]
    assert {row["doc_id"].rpartition("/")[2] for row in new} == {
        "haeufige-fragen.md",
        "2024-06-19-odometry.eml",
    }
    assert outcome.counts["embedded"] == len({row["embed_key"] for row in new})


def test_a_repository_is_replayed_commit_by_commit(tmp_path):
    from benchmarks.nightly import replay

    repository = tmp_path / "repository"
    repository.mkdir()

    def git(*words):
        settings = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *settings, *words], cwd=repository, check=True, capture_output=True)

    git("init", "-q")
    for text in ("# One\n\nFirst.\n", "# One\n\nFirst, and more.\n"):
        (repository / "page.md").write_text(text)
        (repository / "other.md").write_text("# Other\n\nStays.\n")
        git("add", ".")
        git("commit", "-q", "-m", "x")
    folder = tmp_path / "work"
    folder.mkdir()
    first, second = replay(repository, folder, "**/*.md", 5, "hash")
    assert (first.chunks, first.embedded, first.opened) == (2, 2, 2)
    assert (second.chunks, second.embedded, second.opened) == (2, 1, 1)
    assert second.added == len("First, and more.")
