"""How a person is told what a snapshot is made with."""

from dataclasses import replace

import pytest

from transforms.embedders.settings import OpenAISettings, StaticSettings, settings_to_json
from transforms.model.fusion import Fusion
from transforms.model.shard import FileInfo
from transforms.report.made import model_words, recipe_words, sparse_words
from transforms.sparse.settings import NO_SPARSE, BM25Settings
from transforms.sparse.settings import settings_to_json as sparse_to_json
from transforms.table.manifest import Manifest

TERMS = FileInfo("terms.parquet", "", 2292, 11403, "0" * 64)


def manifest(made_by=None, terms=None, **recipe):
    return Manifest(
        schema_version=1,
        snapshot=1,
        parent=None,
        created_at="2026-11-30T00:00:00+00:00",
        program="parquetry 0",
        run_id="run",
        recipe=recipe,
        files=(),
        sources={},
        counts={},
        sparse=made_by,
        terms=terms,
    )


@pytest.mark.parametrize(
    ("settings", "model", "said"),
    [
        (StaticSettings(), ("static-en-256@1", 256), "static-en-256@1, 256 dimensions (kind static)"),
        (
            StaticSettings(also_store=("int8", "bits")),
            None,
            "no vectors yet (kind static, also_store int8 bits)",
        ),
        (
            OpenAISettings(preset="voyage", model="voyage-3.5", dimension=1024),
            ("voyage-3.5@1024", 1024),
            "voyage-3.5@1024, 1,024 dimensions (kind openai, model voyage-3.5, dimension 1024, preset voyage)",
        ),
    ],
)
def test_the_model_is_told_with_what_is_set_otherwise_than_by_default(settings, model, said):
    assert model_words(manifest(embedder=settings_to_json(settings)), model) == said


def test_settings_of_another_program_are_told_as_they_stand():
    assert (
        model_words(manifest(embedder='{"kind": "x"}'), ("x@1", 2)) == 'x@1, 2 dimensions ({"kind": "x"})'
    )
    assert model_words(manifest(), None) == "no vectors yet (the manifest names none)"


@pytest.mark.parametrize(
    ("made_by", "terms", "settings", "said"),
    [
        (None, None, NO_SPARSE, "none"),
        ("bm25@1-0f28", TERMS, BM25Settings(), "bm25@1-0f28, 2,292 terms (kind bm25)"),
        (
            "bm25@1-0f28",
            None,
            BM25Settings(k1=2, languages=(), stop_words=("the",)),
            "bm25@1-0f28 (kind bm25, k1 2.0, languages none, stop_words the)",
        ),
    ],
)
def test_sparse_vectors_are_told_with_the_number_of_their_terms(made_by, terms, settings, said):
    assert sparse_words(manifest(made_by, terms, sparse=sparse_to_json(settings))) == said


def test_another_way_to_search_than_the_default_is_told_behind_them():
    made = replace(
        manifest("bm25@1-0", TERMS, sparse=sparse_to_json(BM25Settings())), search=Fusion("rrf", 0.2)
    )
    assert (
        sparse_words(made) == "bm25@1-0, 2,292 terms (kind bm25), searched by reciprocal ranks, 0.20 sparse"
    )


def test_sources_of_the_same_settings_are_told_together():
    same, other = "0955525900000000", "12345678aaaaaaaa"
    assert recipe_words(manifest()) == "not known"
    assert recipe_words(manifest(**{"source:a": same, "source:b": same})) == "09555259 of all sources"
    many = {f"source:{n:02}": same for n in range(12)}
    assert recipe_words(manifest(**many, **{"source:b": other})) == (
        "09555259 of 00, 01, 02, 03, 04, 05, 06, 07, 08, 09 and 2 more; 12345678 of b"
    )
