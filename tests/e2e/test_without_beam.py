"""What this process does without Beam is what Beam does: the same nights, the same bytes; and a month of nights."""

import datetime
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pipeline.run import run_job
from transforms.storage.registry import open_store
from transforms.table.history import published, vacuum

ROOT = Path(__file__).parents[2]
CHEAP = {"kind": "hash", "dimension": 4}
IN_BEAM = ["--runner=DirectRunner"]


def files(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*.parquet"))
        if path.parent.name.startswith("source=") or path.name == "terms.parquet"
    }


def records(folder):
    """The plan and the done records, which say what a run had to do and what came of it, but for names and times."""
    found = [folder / "_plan/docs.json", *folder.glob("_done/docs/*.json")]
    records = {path.relative_to(folder): json.loads(path.read_bytes()) for path in found}
    for record in records.values():
        record.pop("run_id", None)
        record.get("work", {}).pop("seconds", None)
    return records


def test_nights_with_beam_and_without_it_publish_the_same_bytes(world):
    options = {"embedder": CHEAP, "run": {"workers": 1, "shard_bytes": 1024}}
    for n in range(12):
        world.put(f"pages/{n:02}.md", f"# Page {n}\n\n" + f"Sentence {n} about wheels. " * 20)
    other = str(world.folder / "beam")

    def night():
        without = world.run(**options)
        with_beam = run_job(world.config(table=other, **options), IN_BEAM, allow_deletes=True)
        assert (with_beam.status, with_beam.counts, with_beam.work) == (
            without.status,
            without.counts,
            without.work,
        )
        mine, theirs = world.snapshot(without.snapshot), Path(other, "snapshots", f"{without.snapshot:06}")
        assert files(mine) == files(theirs)
        assert records(mine) == records(theirs)

    night()
    world.put("pages/03.md", "# Page 3\n\nAnother text.\n")
    world.put("pages/05.md", b"")
    (world.corpus / "pages/07.md").rename(world.corpus / "pages/7.md")
    (world.corpus / "pages/09.md").unlink()
    night()
    world.put("pages/05.md", "# Page 5\n\nMended.\n")
    options["embedder"] = CHEAP | {"dimension": 3}
    night()


SEEN = """
import sys
from pipeline.cli import app
app(sys.argv[1:], standalone_mode=False)
print([name for name in ("apache_beam", "pandas", "google.cloud.storage") if name in sys.modules])
"""


@pytest.mark.parametrize(
    ("run", "beam_args", "loaded"),
    [
        ({"workers": 1}, [], []),
        # What is little work is work for one process, as long as nobody says how many.
        ({"workers": "auto"}, [], []),
        # Two processes have nothing to share in one shard.
        ({"workers": 2}, [], []),
        ({"workers": 2, "shard_bytes": 1024}, [], ["apache_beam"]),
        ({"workers": 1}, ["--", *IN_BEAM], ["apache_beam"]),
    ],
)
def test_beam_is_loaded_where_processes_share_the_work_or_somebody_asks_for_it(
    world, run, beam_args, loaded
):
    world.put("long.md", "A sentence about wheels. " * 100)
    path = world.folder / "job.yaml"
    sources = [{"name": "docs", "root": str(world.corpus)}]
    path.write_text(
        yaml.safe_dump({"table": str(world.table), "embedder": CHEAP, "sources": sources, "run": run})
    )
    command = [sys.executable, "-c", SEEN, "run", str(path), "--json", *beam_args]
    out = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    assert json.loads(out[0])["status"] == "published"
    assert [name for name in ("apache_beam",) if name in out[1]] == loaded
    assert loaded or out[1] == "[]"


def test_a_month_of_edits_leaves_the_rows_of_the_files_and_the_snapshots_that_are_kept(world, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda handle: None)
    outcome = world.run(embedder=CHEAP)
    store = open_store(str(world.table))
    for day in range(1, 31):
        world.put("diary.md", f"# Diary\n\nThis is what happened on day {day} of the month.\n")
        outcome = world.run(embedder=CHEAP)
        vacuum(store, keep=3, grace=datetime.timedelta(0))
    assert outcome.counts["documents"] == 3
    assert outcome.counts["chunks"] == len(world.rows())
    assert [row["text"] for row in world.rows() if row["doc_id"] == "diary.md"] == [
        "# Diary\n\nThis is what happened on day 30 of the month.\n"
    ]
    assert [manifest.snapshot for manifest in published(store)] == [29, 30, 31]
    assert len(list((world.table / "snapshots").iterdir())) == 3
