"""Each guard refuses in a sentence of its own, before anything is spent, and the table stays as it was."""

import json

import numpy as np
import pyarrow as pa
import pytest

from pipeline.commands import run as command
from pipeline.run import run_job
from transforms.embedders import hashed
from transforms.embedders.hashed import HashEmbedder
from transforms.model.errors import GuardError, NewerTableError, StorageError
from transforms.storage.local import LocalStore
from transforms.table.schema import CHUNKS
from transforms.table.vectors import check_vectors

CHEAP = {"kind": "hash", "dimension": 4}


@pytest.fixture
def night(world):
    """A run that costs little; by default of two sources, ``docs`` and ``notes``."""
    world.put("docs/about.md", "# Pumps\n\nThe vent valve stays open.\n")
    world.put("notes/radio.txt", "A note about the radio.\n")

    def run(sources=("docs", "notes"), *, allow_deletes=False, **changes):
        entries = [{"name": name, "root": str(world.corpus / name)} for name in sources]
        entries = changes.pop("config_sources", entries)
        config = world.config(**({"embedder": CHEAP, "sources": entries} | changes))
        return run_job(config, allow_deletes=allow_deletes)

    return run


def fail_listing(monkeypatch, *folders):
    """From now on the listing of these folders breaks off after its first page."""
    real = LocalStore.list

    def broken(store, prefix=""):
        yield from real(store, prefix)
        if store.root.endswith(folders):
            raise StorageError(f"{store.root}: the connection was lost.")

    monkeypatch.setattr(LocalStore, "list", broken)


def texts(world, source):
    return [row["text"] for row in world.rows() if row["source_name"] == source]


def test_a_source_that_cannot_be_listed_keeps_its_rows_and_the_others_go_on(night, world, monkeypatch):
    night()
    before = texts(world, "notes")
    world.put("docs/new.md", "# New\n\nA new page.\n")
    world.put("notes/new.txt", "A new note.\n")
    (world.corpus / "notes/radio.txt").unlink()
    fail_listing(monkeypatch, "notes")
    outcome = night()
    assert outcome.status == "published"
    assert list(outcome.incomplete) == ["notes"]
    assert "the connection was lost" in outcome.incomplete["notes"]
    assert texts(world, "notes") == before
    assert any("A new page." in text for text in texts(world, "docs"))
    report = json.loads((world.snapshot(2) / "report.json").read_text())
    assert list(report["incomplete"]) == ["notes"]


def test_a_source_that_could_not_be_listed_is_brought_up_to_date_by_the_next_run(night, world, monkeypatch):
    night()
    with monkeypatch.context() as trouble:
        fail_listing(trouble, "notes")
        world.put("notes/new.txt", "A new note.\n")
        assert night().status == "unchanged"
    assert night().status == "published"
    assert any("A new note." in text for text in texts(world, "notes"))


def test_an_incomplete_listing_has_the_exit_code_of_a_guard(night, world, monkeypatch, capsys):
    night()
    fail_listing(monkeypatch, "notes")
    monkeypatch.setattr(command, "run_job", lambda *args, **options: night())
    path = world.folder / "job.yaml"
    path.write_text(f"table: {world.table}\nsources: [{{name: docs, root: {world.corpus}}}]\n")
    assert command.run(path, [], allow_deletes=False, take_over=False, as_json=False) == 4
    assert "Source `notes` could not be listed whole and keeps the rows it had" in capsys.readouterr().out


def test_where_no_source_can_be_listed_nothing_is_done(night, world, monkeypatch):
    fail_listing(monkeypatch, "docs", "notes")
    with pytest.raises(
        GuardError, match=r"no source could be listed\.\n  source `docs`: .*connection was lost"
    ):
        night()
    assert not (world.table / "latest.json").exists()


def test_vectors_of_two_models_never_stand_side_by_side(night, world, monkeypatch):
    night()
    fail_listing(monkeypatch, "notes")
    with pytest.raises(GuardError, match=r"`notes` could not be listed .* vectors of another model"):
        night(embedder={"kind": "hash", "dimension": 8})
    assert world.latest() == 1


def test_vectors_of_another_width_are_asked_for_before_they_replace_all_others(night, world):
    night()
    wider = {"kind": "hash", "dimension": 8}
    with pytest.raises(
        GuardError,
        match=r"has vectors of 4 numbers, and hash-8@1 gives 8\. All \d+ chunks would be embedded again",
    ):
        night(embedder=wider)
    assert world.latest() == 1
    assert {row["embed_dim"] for row in world.rows()} == {4}
    assert night(embedder=wider, allow_deletes=True).snapshot == 2
    assert {row["embed_dim"] for row in world.rows()} == {8}
    assert night(embedder=wider).status == "unchanged"


def test_the_table_of_another_job_is_left_alone(night, world):
    night(["docs"])
    with pytest.raises(
        GuardError,
        match=r"holds another table\. Its sources are `docs`, and this configuration has `notes`",
    ):
        night(["notes"])
    assert world.latest() == 1
    assert night(["notes"], allow_deletes=True).snapshot == 2


def test_a_source_that_left_the_configuration_is_named(night, world):
    for n in range(20):
        world.put(f"notes/{n}.txt", f"Note {n}.\n")
    night()
    with pytest.raises(GuardError, match="`notes` is not configured any more; its 21 documents would go"):
        night(["docs"])
    assert night(["docs"], allow_deletes=True).counts["deleted"] == 21


def test_a_table_of_a_newer_program_is_left_alone(night, world):
    night()
    latest = world.table / "latest.json"
    latest.write_text(latest.read_text().replace('"schema_version": 1', '"schema_version": 2'))
    before = sorted(world.table.rglob("*"))
    with pytest.raises(NewerTableError, match=r"with schema version 2; this program knows 1\. Upgrade it"):
        night()
    assert NewerTableError.exit_code == 4
    assert sorted(world.table.rglob("*")) == before


class Broken(HashEmbedder):
    """Gives what a broken model does: zeros, no numbers, or too few of them."""

    def __init__(self, fault):
        super().__init__(4)
        self.fault = fault

    def embed(self, texts, task="document"):
        vectors = super().embed(texts, task)
        return vectors[:, :3] if self.fault == "short" else np.full_like(vectors, self.fault)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (0.0, "of 22 texts that were embedded 22 came without a vector .zeros, or numbers"),
        (np.nan, "of 22 texts that were embedded 22 came without a vector"),
        (np.inf, "of 22 texts that were embedded 22 came without a vector"),
        ("short", r"gave an array of shape \(22, 3\) for 22 texts; \(22, 4\) was promised"),
    ],
)
def test_a_model_that_gives_no_vectors_publishes_nothing(night, world, monkeypatch, fault, sentence):
    from transforms.embedders import registry

    for n in range(21):
        world.put(f"docs/{n}.md", f"# Page {n}\n\nText of page {n}.\n")
    monkeypatch.setattr(registry, "_built", {})
    monkeypatch.setattr(hashed, "build", lambda settings: Broken(fault))
    with pytest.raises(GuardError, match=sentence):
        night(["docs"])
    assert not (world.table / "latest.json").exists()


def chunks(*vectors):
    return pa.table(
        {
            "chunk_ref": [f"a.md::{n}" for n in range(1, len(vectors) + 1)],
            "source_name": ["docs"] * len(vectors),
            "embedding": pa.array(vectors, CHUNKS.field("embedding").type),
        }
    )


def test_rows_without_a_vector_and_with_a_good_one_are_written():
    check_vectors(chunks([1.0, 0.0], None, [0.0, -1.0]), 2)
    check_vectors(chunks(), 2)


@pytest.mark.parametrize(
    ("vector", "fault"),
    [
        ([1.0], "has another length than 2"),
        ([1.0, 2.0, 3.0], "has another length than 2"),
        ([1.0, np.nan], "holds numbers that are not finite"),
        ([np.inf, 0.0], "holds numbers that are not finite"),
        ([0.0, 0.0], "is zero throughout"),
    ],
)
def test_a_row_whose_vector_is_none_is_named(vector, fault):
    with pytest.raises(GuardError, match=f"chunk `a.md::3` of source `docs` {fault}, as do 1 others"):
        check_vectors(chunks([1.0, 0.0], None, vector, vector), 2)


def test_a_corpus_without_objects_is_an_empty_table(world):
    for path in [*world.corpus.rglob("*.*")]:
        path.unlink()
    outcome = world.run(embedder=CHEAP)
    assert (outcome.status, outcome.counts["documents"]) == ("published", 0)
    assert world.run(embedder=CHEAP).status == "unchanged"


def test_the_guards_stand_before_the_work_on_other_runners_too(night, world, monkeypatch):
    """A runner that is not this machine's gets the whole job as one pipeline, guards included."""
    monkeypatch.undo()
    for n in range(30):
        world.put(f"docs/{n}.md", f"# Page {n}\n\nText of page {n}.\n")
    elsewhere = ["--runner=apache_beam.runners.portability.fn_api_runner.FnApiRunner"]
    monkeypatch.setattr("pipeline.run.LOCAL_RUNNERS", ())
    config = world.config(embedder=CHEAP)
    assert run_job(config, elsewhere).snapshot == 1
    for n in range(30):
        (world.corpus / f"docs/{n}.md").unlink()
    with pytest.raises(GuardError, match="source `docs`: 30 of 33 objects are gone"):
        run_job(config, elsewhere)
    assert world.latest() == 1
    assert run_job(config, elsewhere, allow_deletes=True).snapshot == 2


def test_a_source_that_cannot_be_listed_keeps_its_rows_on_other_runners_too(night, world, monkeypatch):
    night()
    monkeypatch.undo()
    monkeypatch.setattr("pipeline.run.LOCAL_RUNNERS", ())
    fail_listing(monkeypatch, "notes")
    world.put("docs/new.md", "# New\n\nA new page.\n")
    sources = [{"name": name, "root": str(world.corpus / name)} for name in ("docs", "notes")]
    config = world.config(embedder=CHEAP, sources=sources)
    outcome = run_job(config, ["--runner=apache_beam.runners.portability.fn_api_runner.FnApiRunner"])
    assert (outcome.status, list(outcome.incomplete)) == ("published", ["notes"])
    assert len(texts(world, "notes")) == 1
    assert len(texts(world, "docs")) == 2


def test_a_source_in_which_nothing_is_found_is_told_and_keeps_nobody_from_publishing(night, world):
    entries = [
        {"name": "docs", "root": str(world.corpus / "docs"), "include": ["**/*.pfd"]},
        {"name": "notes", "root": str(world.corpus / "notes")},
    ]
    sentence = (
        f"Source `docs` is empty: below {world.corpus / 'docs'} there is nothing that its `include` and `exclude` "
        "let pass."
    )
    first = night(config_sources=entries)
    assert (first.status, first.notices) == ("published", (sentence,))
    assert json.loads((world.snapshot(1) / "report.json").read_text())["notices"] == [sentence]
    assert night(config_sources=entries).notices == (sentence,)
    assert night(config_sources=entries[1:], allow_deletes=True).notices == ()
