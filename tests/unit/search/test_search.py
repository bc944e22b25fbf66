"""Search over a published table, and what it prints."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from pipeline.commands.search import run
from pipeline.search import search
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import StaticSettings, settings_to_json
from transforms.model.errors import ConfigError, TableError
from transforms.storage.registry import open_store
from transforms.table.layout import CHUNKS as CHUNK_FILES
from transforms.table.layout import shard_path
from transforms.table.publish import Draft, publish
from transforms.table.schema import CHUNKS
from transforms.table.writer import write_table

MODEL = make_embedder(StaticSettings())
TEXTS = {
    "support": [
        "Charge the battery pack before every drive, and store it half full over the winter.",
        "The servo of the front left wheel is on channel two.",
        "☃",
    ],
    "manuals": ["Self-locking nuts hold a bolt by friction.", "A poem about the sea."],
}


def rows_of(source: str, texts: list[str]) -> pa.Table:
    vectors = MODEL.embed(texts)
    rows = []
    for number, text in enumerate(texts):
        found = bool(np.isfinite(vectors[number]).all())
        row = {field.name: None for field in CHUNKS}
        for field in CHUNKS:
            if not field.nullable:
                row[field.name] = "" if pa.types.is_string(field.type) else 0
            if not field.nullable and pa.types.is_list(field.type):
                row[field.name] = []
        row |= {
            "chunk_id": f"{source}-{number}",
            "source_name": source,
            "doc_id": f"{source}.md",
            "doc_uri": f"/docs/{source}.md",
            "text": text,
            "page_start": number + 1 if source == "manuals" else None,
            "section_path": ["Care", "Winter"] if number == 0 else [],
            "embedding": vectors[number].tolist() if found else None,
            "embed_model": MODEL.name if found else None,
        }
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=CHUNKS)


def make_table(root, texts, embedder=None) -> str:
    store = open_store(str(root))
    files = [
        write_table(
            store, shard_path(1, CHUNK_FILES, source, "a"), rows_of(source, texts[source]), source, {}
        )
        for source in texts
        if texts[source]
    ]
    zero = dict.fromkeys(("documents", "chunks", "embedded", "reused", "rejected", "deleted"), 0)
    draft = Draft(
        number=1,
        parent=None,
        run_id="r",
        recipe={"embedder": embedder or settings_to_json(StaticSettings())},
        new_files=tuple(files),
        kept_files=(),
        rejected=(),
        deleted={},
        counts={source: zero | {"chunks": len(texts[source])} for source in texts},
        totals=zero | {"chunks": sum(map(len, texts.values()))},
    )
    publish(store, draft)
    return str(root)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return make_table(tmp_path_factory.mktemp("table"), TEXTS)


def test_the_nearest_chunk_comes_first_and_says_where_it_is(table):
    hits = search(table, "How do I store the battery in winter?", top=2)
    assert hits[0].chunk_id == "support-0"
    assert hits[0].section_path == ("Care", "Winter")
    assert hits[0].doc_uri == "/docs/support.md"
    assert hits[0].score > hits[1].score


def test_all_chunks_with_a_vector_are_found_if_enough_are_asked_for(table):
    found = {hit.chunk_id for hit in search(table, "bolt", top=100)}
    assert found == {"support-0", "support-1", "manuals-0", "manuals-1"}


def test_only_the_sources_asked_for_are_searched(table):
    hits = search(table, "battery", sources=["manuals"])
    assert {hit.source_name for hit in hits} == {"manuals"}


def test_a_source_that_is_not_there_is_named_with_those_that_are(table):
    with pytest.raises(ConfigError, match="no source called wiki; it has support, manuals"):
        search(table, "battery", sources=["wiki"])


def test_a_question_of_which_no_word_is_known_is_one_sentence(table):
    with pytest.raises(ConfigError, match="static-en-256@1 knows no word of the question '☃'"):
        search(table, "☃")


def test_a_place_without_a_table_is_one_sentence(tmp_path):
    with pytest.raises(TableError, match=r"There is no published snapshot at .*nowhere"):
        search(str(tmp_path / "nowhere"), "battery")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_other_files_is_told_from_a_name_that_is_wrong(tmp_path):
    (tmp_path / "notes.md").write_text("Mine.")
    with pytest.raises(
        TableError, match=r"is no table: it holds notes\.md\. Name .* the folder of a table"
    ):
        search(str(tmp_path), "battery")
    with pytest.raises(TableError, match=r"there is no such place\. Mend the name"):
        search(str(tmp_path / "tabel"), "battery")


def test_an_embedder_of_another_program_is_one_sentence(tmp_path):
    place = make_table(tmp_path, TEXTS, embedder='{"kind": "later"}')
    with pytest.raises(TableError, match="made with an embedder that this program does not know"):
        search(place, "battery")


def test_hits_are_printed_with_score_source_document_page_and_section(table, capsys):
    assert run(table, "store the battery in winter", top=1) == 0
    shown = capsys.readouterr().out
    assert " 1  0." in shown
    assert "support/support.md  Care > Winter" in shown
    assert "Charge the battery pack" in shown
    run(table, "self-locking nuts", top=1)
    assert "manuals/manuals.md  page 1  Care > Winter" in capsys.readouterr().out


def test_hits_are_printed_as_json(table, capsys):
    assert run(table, "self-locking nuts", top=1, as_json=True) == 0
    (hit,) = json.loads(capsys.readouterr().out)
    assert hit.pop("score") > 0.5
    assert hit == {
        "source_name": "manuals",
        "doc_id": "manuals.md",
        "doc_uri": "/docs/manuals.md",
        "page": 1,
        "section_path": ["Care", "Winter"],
        "text": "Self-locking nuts hold a bolt by friction.",
        "chunk_id": "manuals-0",
    }


def test_an_empty_table_is_a_sentence_and_no_fault(tmp_path, capsys):
    place = make_table(tmp_path, {"support": []})
    assert run(place, "battery") == 0
    assert "There is no chunk with a vector at" in capsys.readouterr().out
    assert run(place, "battery", as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == []
