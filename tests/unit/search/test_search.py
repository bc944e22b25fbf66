"""Search over a published table, and what it prints."""

from __future__ import annotations

import datetime
import json
import re

import numpy as np
import pyarrow as pa
import pytest

from pipeline.commands.search import run
from pipeline.search import search
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import StaticSettings, settings_to_json
from transforms.model.errors import ConfigError, TableError
from transforms.sparse.columns import to_columns
from transforms.sparse.protocol import SparseEncoder
from transforms.sparse.registry import make_sparse
from transforms.sparse.settings import NO_SPARSE, BM25Settings, SparseSettings
from transforms.sparse.settings import settings_to_json as sparse_to_json
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


def rows_of(source: str, texts: list[str], sparse: SparseEncoder | None = None) -> pa.Table:
    vectors = MODEL.embed(texts)
    terms = to_columns(sparse.encode(texts)) if sparse else {}
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
            "metadata": json.dumps({"author": "Ada" if source == "support" else "Bo"}),
            "effective_date": datetime.date(2026, 1, 1 + number),
        }
        row |= {name: column[number].as_py() for name, column in terms.items()}
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=CHUNKS)


def make_table(root, texts, embedder=None, sparse: SparseSettings = NO_SPARSE) -> str:
    store = open_store(str(root))
    encoder = make_sparse(sparse)
    files = [
        write_table(
            store,
            shard_path(1, CHUNK_FILES, source, "a"),
            rows_of(source, texts[source], encoder),
            source,
            {},
        )
        for source in texts
        if texts[source]
    ]
    zero = dict.fromkeys(("documents", "chunks", "embedded", "reused", "rejected", "deleted"), 0)
    draft = Draft(
        number=1,
        parent=None,
        run_id="r",
        recipe={
            "embedder": embedder or settings_to_json(StaticSettings()),
            "sparse": sparse_to_json(sparse),
        },
        new_files=tuple(files),
        kept_files=(),
        rejected=(),
        deleted={},
        counts={source: zero | {"chunks": len(texts[source])} for source in texts},
        totals=zero | {"chunks": sum(map(len, texts.values()))},
        sparse=encoder.name if encoder else None,
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
    assert not [line for line in shown.splitlines() if line != line.rstrip()]
    run(table, "self-locking nuts", top=1)
    assert "manuals/manuals.md  page 1  Care > Winter" in capsys.readouterr().out


def test_hits_are_printed_as_json(table, capsys):
    assert run(table, "self-locking nuts", top=1, as_json=True) == 0
    (hit,) = json.loads(capsys.readouterr().out)
    assert hit.pop("score") == hit.pop("dense") > 0.5
    assert (hit.pop("dense_rank"), hit.pop("sparse"), hit.pop("sparse_rank"), hit.pop("matches")) == (
        1,
        None,
        None,
        [],
    )
    assert hit == {
        "fusion": None,
        "source_name": "manuals",
        "doc_id": "manuals.md",
        "doc_uri": "/docs/manuals.md",
        "page": 1,
        "section_path": ["Care", "Winter"],
        "text": "Self-locking nuts hold a bolt by friction.",
        "chunk_id": "manuals-0",
    }


def test_a_filter_that_no_chunk_meets_is_named(tmp_path, capsys):
    place = make_table(tmp_path, {"support": []})
    assert run(place, "battery", filters=["doc_type=manual"]) == 0
    assert capsys.readouterr().out == (
        f"No chunk that the question can be compared with meets doc_type=manual at {place}.\n"
    )


def test_an_empty_table_is_a_sentence_and_no_fault(tmp_path, capsys):
    place = make_table(tmp_path, {"support": []})
    assert run(place, "battery", by="dense") == 0
    assert "There is no chunk with a vector at" in capsys.readouterr().out
    assert run(place, "battery", as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    return make_table(tmp_path_factory.mktemp("both"), TEXTS, sparse=BM25Settings())


@pytest.fixture(scope="module")
def keyless(tmp_path_factory):
    """A table whose model is a server's, of which there is neither address nor key."""
    embedder = '{"kind": "openai", "model": "far-away", "dimension": 256, "api_key_env": "NO_SUCH_KEY"}'
    return make_table(tmp_path_factory.mktemp("keyless"), TEXTS, embedder, BM25Settings())


def test_a_table_with_both_is_searched_by_both_and_each_hit_says_how(both):
    (hit,) = search(both, "the battery in winter", top=1)
    assert hit.chunk_id == "support-0"
    assert (hit.score, hit.dense_rank, hit.sparse_rank) == (1.0, 1, 1)
    assert [one.term for one in hit.matches] == ["batteri", "winter", "the"]
    assert hit.sparse == pytest.approx(sum(one.score for one in hit.matches))


def test_what_is_asked_for_alone_is_what_chunks_are_ranked_by(both):
    (dense,) = search(both, "the battery in winter", top=1, by="dense")
    assert (dense.score, dense.sparse, dense.matches) == (dense.dense, None, ())
    (sparse,) = search(both, "the battery in winter", by="sparse", sources=["support"])[:1]
    assert (sparse.score, sparse.dense) == (sparse.sparse, None)
    assert {hit.chunk_id for hit in search(both, "poem", by="sparse")} == {"manuals-1"}


def test_a_weight_of_words_of_zero_or_one_is_the_order_of_one_score(both):
    question = "battery channel bolt poem"
    for by, weight in (("dense", 0.0), ("sparse", 1.0)):
        one = [hit.chunk_id for hit in search(both, question, by=by)]
        for method in ("sum", "rrf"):
            found = [hit.chunk_id for hit in search(both, question, fusion=method, weight=weight)]
            assert found[: len(one)] == one


def test_words_are_searched_by_without_the_model_of_the_table(keyless):
    assert search(keyless, "poem", by="sparse")[0].chunk_id == "manuals-1"
    assert search(keyless, "unheard", by="sparse") == []
    with pytest.raises(
        ConfigError, match=r"NO_SUCH_KEY.*`--sparse` searches by words, which needs no model"
    ):
        search(keyless, "poem")


def test_a_table_without_sparse_vectors_says_how_to_have_them(table):
    with pytest.raises(
        TableError, match=r"no sparse vectors to search by.*next run with `sparse: {kind: bm25}`"
    ):
        search(table, "poem", by="sparse")


def test_a_question_without_a_known_word_is_found_by_the_model_or_by_its_signs(both):
    assert search(both, "zyxwv", top=1)[0].matches == ()
    with pytest.raises(ConfigError, match="knows no word of the question"):
        search(both, "☃")


def test_a_question_that_neither_model_nor_chunks_know_is_not_said_to_find_no_vectors(both, capsys):
    unknown = "q" * 100_000
    assert run(both, unknown) == 0
    assert (
        capsys.readouterr().out == f"There is no chunk that the question can be compared with at {both}.\n"
    )
    with pytest.raises(ConfigError) as refused:
        search(both, unknown, by="dense")
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("question", ["🚀", "\u0301", "\u202e\u200f", "—"])
def test_a_question_without_words_is_not_said_to_be_in_no_chunk(both, question):
    with pytest.raises(ConfigError, match="has no word or number that a table is searched by"):
        search(both, question, by="sparse")


def test_a_question_of_stop_words_alone_has_no_word(tmp_path):
    place = make_table(tmp_path, TEXTS, sparse=BM25Settings(stop_words=("the", "of")))
    with pytest.raises(ConfigError, match="has no word or number"):
        search(place, "The of?", by="sparse")
    assert search(place, "the of", 1)[0].matches == ()


def test_numbers_out_of_bounds_are_one_sentence(both):
    with pytest.raises(ConfigError, match="0 chunks were asked for: at least one must be"):
        search(both, "battery", 0)
    for weight in (1.5, -0.1, float("nan")):
        with pytest.raises(ConfigError, match=f"from 0 to 1, and {weight} is not"):
            search(both, "battery", weight=weight)
    assert len(search(both, "battery", 10**9)) == 4


def test_a_question_of_thousands_of_words_shows_the_terms_that_count_most(tmp_path, capsys):
    words = " ".join(f"word{number}" for number in range(3000))
    place = make_table(tmp_path, {"support": [words]}, sparse=BM25Settings())
    assert run(place, words * 3, explain=True) == 0
    assert re.search(r"terms, .*: .* and \d,\d\d\d more\n", capsys.readouterr().out)


def test_a_table_without_its_frequencies_says_how_to_search_it_all_the_same(tmp_path):
    place = make_table(tmp_path, TEXTS, sparse=BM25Settings())
    next(tmp_path.glob("snapshots/*/terms.parquet")).unlink()
    for by in (None, "sparse"):
        with pytest.raises(
            TableError, match=r"terms\.parquet is missing\..*`--dense` searches without them\."
        ):
            search(place, "battery", by=by)
    assert search(place, "battery", by="dense")[0].chunk_id == "support-0"


@pytest.mark.parametrize("by", [None, "dense", "sparse"])
def test_an_empty_question_is_one_sentence(both, by):
    with pytest.raises(ConfigError, match="The question is empty"):
        search(both, " \n", by=by)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["metadata.author=Bo"], {"manuals-0", "manuals-1"}),
        (["effective_date>=2026-01-02"], {"manuals-1", "support-1", "support-2"}),
        (["metadata.author!=Bo", "effective_date<2026-01-02"], {"support-0"}),
        (["doc_id=none"], set()),
    ],
)
def test_only_chunks_that_meet_all_conditions_are_searched(both, filters, expected):
    assert {hit.chunk_id for hit in search(both, "the battery ☃", filters=filters)} == expected - {
        "support-2"
    }


def test_a_condition_on_no_column_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(ConfigError, match="has no column colour"):
        search(str(tmp_path), "battery", filters=["colour=red"])


def test_sparse_vectors_of_other_rules_are_not_searched_by_those_of_today(tmp_path):
    place = make_table(tmp_path, TEXTS, sparse=BM25Settings())
    manifest = next(tmp_path.glob("snapshots/*/manifest.json"))
    manifest.write_text(manifest.read_text().replace("bm25@", "bm25@0-"))
    with pytest.raises(TableError, match=r"made by bm25@0-.*`--dense` searches without them"):
        search(place, "battery")
    assert search(place, "battery", by="dense")


def test_an_explanation_has_scores_places_and_terms(both, capsys):
    assert run(both, "the battery in winter", top=1, explain=True) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[1].startswith("dense 0.")
    assert lines[1].endswith(", place 1")
    assert lines[2].startswith("sparse ")
    assert lines[3] == "together 1.000 (sum, 0.40 sparse)"
    assert lines[4].startswith("terms, and in brackets their weight in the question: batteri ")
    assert run(both, "poem", sources=["support"], by="sparse") == 0
    assert "no chunk with a word of the question in support" in capsys.readouterr().out
    assert run(both, "poem", top=1, as_json=True) == 0
    (hit,) = json.loads(capsys.readouterr().out)
    assert hit["matches"][0]["term"] == "poem"


def test_scores_of_reciprocal_ranks_are_shown_with_the_digits_in_which_they_differ(both, capsys):
    assert run(both, "the battery in winter", top=2, fusion="rrf", weight=0.5, explain=True) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    # The first by both: 1 / (60 + 1).
    assert lines[0].startswith("1  0.01639  support/")
    assert "together 0.01639 (reciprocal ranks, 0.50 sparse)" in lines
    assert run(both, "the battery in winter", top=1, by="dense", fusion="rrf", weight=0.5) == 0
    # By vectors alone a score is a cosine, whatever both would be put together by.
    assert re.match(r" 1  0\.\d{3}  support/", capsys.readouterr().out)
