"""Tables that lie in a corpus are no documents: the job's own, a copy of it, another job's."""

import json
import shutil

import pytest

from pipeline.commands import plan as plan_command
from pipeline.run import run_job
from pipeline.scope import Words

CHEAP = {"kind": "hash", "dimension": 4}
IN_BEAM = ["--runner=apache_beam.runners.portability.fn_api_runner.FnApiRunner"]


def objects(world):
    return [row["object_name"] for row in world.rows("documents")]


@pytest.mark.parametrize("beam_args", [[], IN_BEAM], ids=["here", "elsewhere"])
def test_a_table_in_a_corpus_is_left_out_and_told_night_after_night(world, beam_args):
    run_job(world.config(table=str(world.folder / "other"), embedder=CHEAP))
    copied = shutil.copytree(world.folder / "other", world.corpus / "backup")
    world.put("backup/README.md", "# Backup\n\nA copy of the table, made by hand.\n")
    files = sum(path.is_file() and not path.name.startswith(".") for path in copied.rglob("*")) - 1
    sentence = (
        f"Source `docs`: {world.corpus}/backup is a table. What it is made of was left out ({files} files); name it "
        "in `exclude` to be told no more."
    )
    outcome = run_job(world.config(embedder=CHEAP), beam_args)
    assert (outcome.status, outcome.notices) == ("published", (sentence,))
    assert objects(world) == ["about.md", "backup/README.md", "notes/radio.txt"]
    assert not outcome.reasons
    again = run_job(world.config(embedder=CHEAP), beam_args)
    assert (again.status, again.notices) == ("unchanged", (sentence,))


def test_a_plan_tells_the_table_that_a_run_would_leave_out(world, capsys):
    run_job(world.config(table=str(world.corpus / "index"), embedder=CHEAP))
    path = world.folder / "job.yaml"
    path.write_text(json.dumps(world.config(embedder=CHEAP).model_dump(mode="json")))
    assert plan_command.run(path, Words(), as_json=True) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["sources"]["docs"]["listed"] == 2
    assert said["notices"][0].startswith(f"Source `docs`: {world.corpus}/index is a table.")


def test_the_own_table_in_the_corpus_is_nothing_to_tell(world):
    config = world.config(table=str(world.corpus / "index"), embedder=CHEAP)
    for status in ("published", "unchanged"):
        outcome = run_job(config)
        assert (outcome.status, outcome.notices) == (status, ())


def test_what_a_table_gave_when_it_was_taken_for_documents_goes_as_other_rows_do(world):
    """The guard on deletions sees them, so nobody loses rows unasked."""
    copied = world.corpus / "index"
    world.put("index/latest.json", json.dumps({"title": "Not a table yet"}))
    run_job(world.config(embedder=CHEAP))
    assert objects(world) == ["about.md", "index/latest.json", "notes/radio.txt"]
    shutil.rmtree(copied)
    run_job(world.config(table=str(copied), embedder=CHEAP))
    assert run_job(world.config(embedder=CHEAP)).status == "published"
    assert objects(world) == ["about.md", "notes/radio.txt"]
