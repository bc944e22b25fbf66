"""What ``explain`` says of documents over several nights."""

import json

import pytest

from pipeline.commands import explain as command
from pipeline.explain import Vector, explain
from pipeline.run import run_job
from transforms.model.errors import ConfigError


@pytest.fixture
def night(world):
    world.put("old.md", "# Old\n\nWords that stay.\n")

    def run(**changes):
        return run_job(
            world.config(embedder={"kind": "hash", "dimension": 4}, **changes), allow_deletes=True
        )

    run()
    return run


def history(world, document):
    [found] = explain(str(world.table), document)
    return [(event.snapshot, event.what, event.why) for event in found.history]


def test_each_snapshot_says_what_it_did_with_the_document_and_why(night, world):
    world.put("old.md", "# Old\n\nWords that stay, and more.\n")
    night()
    world.put("other.md", "# Other\n")
    night()
    world.put("old.md", b"%PDF-1.4 and no more")
    night()
    (world.corpus / "old.md").unlink()
    night()
    assert history(world, "docs/old.md") == [
        (1, "new", ()),
        (2, "rebuilt", ("its bytes changed", "its text changed")),
        (3, "unchanged", ()),
        (4, "stale", history(world, "old.md")[3][2]),
        (5, "gone", ()),
    ]
    assert history(world, "old.md")[3][2][0].startswith("pdf_")


def test_other_settings_are_a_reason(night, world):
    world.settings = {"size": {"target": 20, "max": 30}}
    night()
    assert history(world, "old.md")[1] == (2, "rebuilt", ("what cuts and composes it changed",))


def test_a_vector_is_of_the_snapshot_and_the_document_that_paid_for_it(night, world):
    # The same text under the same name of file has the same title, and so is embedded as the same text.
    world.put("later/old.md", "# Old\n\nWords that stay.\n")
    night()
    [copy] = explain(str(world.table), "later/old.md")
    assert list(copy.vectors.values()) == [Vector(1, "docs/old.md")]
    [first] = explain(str(world.table), "old.md")
    assert list(first.vectors.values()) == [Vector(1, None)]
    assert [row["chunk_ref"] for row in first.chunks] == ["old.md::1"]


@pytest.mark.parametrize("name", ["old.md", "docs/old.md", "{root}/old.md"])
def test_a_document_is_named_by_id_by_source_and_id_or_by_its_place(night, world, name):
    [found] = explain(str(world.table), name.format(root=world.corpus))
    assert found.facts["doc_id"] == "old.md"


def test_a_rejected_document_says_why(night, world, capsys):
    world.put("bad.pdf", b"%PDF-1.4 and no more")
    night()
    [found] = explain(str(world.table), "bad.pdf")
    assert found.facts == {}
    assert found.rejection["stage"] == "extract"
    assert [event.what for event in found.history] == ["rejected"]
    command.run(str(world.table), "bad.pdf", as_json=False)
    assert "The newest snapshot does not have it." in capsys.readouterr().out


def test_what_nobody_knows_is_told_with_how_to_name_it(night, world):
    with pytest.raises(ConfigError, match=r"knows no document nothing\.md\. Name it by its URI"):
        explain(str(world.table), "nothing.md")


def test_json_has_all_of_it(night, world, capsys):
    command.run(str(world.table), "old.md", as_json=True)
    [record] = json.loads(capsys.readouterr().out)
    assert sorted(record) == ["chunks", "facts", "history", "rejection", "vectors", "without_terms"]


def test_the_terms_that_tell_a_chunk_from_others_are_told_where_the_table_has_them(night, world, capsys):
    world.put("other.md", "# Other\n\nWords that stay.\n")
    night()
    [found] = explain(str(world.table), "about.md")
    terms = [one["term"] for one in found.chunks[0]["terms"]]
    assert len(terms) == 8
    # What only this document has, and not what all of them have.
    assert {"pump", "vent", "valv"} < set(terms)
    assert "sparse_values" not in found.chunks[0]
    command.run(str(world.table), "about.md", as_json=False)
    assert "Terms that tell a chunk from others" in capsys.readouterr().out
    night(sparse={"kind": "none"})
    [without] = explain(str(world.table), "about.md")
    assert "terms" not in without.chunks[0]
    command.run(str(world.table), "about.md", as_json=False)
    assert "Terms" not in capsys.readouterr().out


def test_why_terms_cannot_be_told_is_said(night, world, capsys):
    (world.snapshot(1) / "terms.parquet").unlink()
    [found] = explain(str(world.table), "old.md")
    assert "terms.parquet is missing" in found.without_terms
    command.run(str(world.table), "old.md", as_json=False)
    assert "Its terms cannot be told here: " in capsys.readouterr().out
