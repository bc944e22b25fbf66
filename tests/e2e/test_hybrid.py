"""Search by vectors and words over tables that the real job made, with the model of the package."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline.cli import app
from pipeline.config import JobConfig
from pipeline.evaluate.run import evaluate
from pipeline.evaluate.settings import EvaluationConfig, Variant
from pipeline.run import run_job
from pipeline.search import search

ROOT = Path(__file__).parents[2]
OTHERS = Path(os.environ.get("PARQUETRY_DEMO", ROOT / ".." / "shared" / "demo"))
SHARE = 0.9
CORPORA = {"examples": ROOT / "examples", "another": OTHERS}


def config_of(corpus: Path, table: Path) -> JobConfig:
    """As the demo is indexed, but for the model."""
    keys = {"size": {"target": 600, "max": 1000}, "overlap": {"size": 100}}
    folders = sorted(folder for folder in (corpus / "corpus").iterdir() if folder.is_dir())
    sources = [{"name": folder.name, "root": str(folder), **keys} for folder in folders]
    return JobConfig.model_validate(
        {"table": str(table), "embedder": {"kind": "static"}, "sources": sources}
    )


@pytest.fixture(scope="module", params=CORPORA)
def corpus(request):
    folder = CORPORA[request.param]
    if not folder.is_dir():
        pytest.skip(f"no corpus with questions at {folder}: set PARQUETRY_DEMO")
    return folder


@pytest.fixture(scope="module")
def table(corpus, tmp_path_factory):
    place = tmp_path_factory.mktemp("table") / "table"
    assert run_job(config_of(corpus, place)).status == "published"
    return str(place)


def questions(corpus: Path) -> list[dict]:
    lines = (corpus / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [question for line in lines if (question := json.loads(line))["expect_any_of"]]


def share_found(table: str, asked: list[dict], by: str | None, top: int = 3) -> float:
    """The share of questions with a chunk of an expected file among the first."""

    def is_found(question: dict) -> bool:
        hits = search(table, question["query"], top, by=by)
        names = {f"{hit.source_name}/{hit.doc_id}".split("#")[0].split("!")[0] for hit in hits}
        return not names.isdisjoint(question["expect_any_of"])

    return sum(map(is_found, asked)) / len(asked)


def test_nine_of_ten_english_questions_find_an_expected_file_among_three_chunks(corpus, table):
    english = [question for question in questions(corpus) if question["lang"] == "en"]
    dense, hybrid = share_found(table, english, "dense"), share_found(table, english, None)
    assert hybrid >= SHARE
    assert hybrid >= dense + 0.05, "words add nothing to vectors"


def test_questions_in_other_languages_find_their_file_by_words(corpus, table):
    others = [question for question in questions(corpus) if question["lang"] != "en"]
    assert share_found(table, others, "sparse") == share_found(table, others, None) == 1


def test_what_is_evaluated_is_what_search_finds(corpus, table, tmp_path):
    asked = questions(corpus)
    lines = [
        json.dumps({"question": one["query"], "documents": one["expect_any_of"]}) + "\n" for one in asked
    ]
    (tmp_path / "questions.jsonl").write_text("".join(lines), encoding="utf-8")
    job = config_of(corpus, Path(table))
    settings = EvaluationConfig(job=tmp_path / "none.yaml", questions=tmp_path / "questions.jsonl")
    results = evaluate(settings, [Variant(name="a", job=job)]).results
    assert [result.by for result in results] == ["dense", "sparse", "hybrid"]
    for result in results:
        for one in result.asked:
            hits = search(table, one.question.question, top=20, by=result.by)
            found = list(dict.fromkeys(f"{hit.source_name}/{hit.doc_id}" for hit in hits))
            assert list(one.found) == found[:3]


def printed(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["search", *arguments])
    assert done.exit_code == code, done.output
    return done.output


def test_the_command_explains_filters_and_searches_one_way(table):
    shown = printed(table, "corner servos", "--top", "1", "--explain")
    assert "dense 0." in shown
    assert "(sum, 0.40 sparse)" in shown
    assert "servo " in shown
    by_words = json.loads(printed(table, "corner servos", "--sparse", "--json"))
    assert by_words[0]["dense"] is None
    assert by_words[0]["score"] == by_words[0]["sparse"] > 0
    by_ranks = json.loads(printed(table, "corner servos", "--fusion", "rrf", "--weight", "0.5", "--json"))
    assert by_ranks[0]["score"] < 0.02
    filtered = json.loads(printed(table, "corner servos", "--filter", "page_start>=1", "--json"))
    assert filtered
    assert all(hit["page"] is not None for hit in filtered)
    assert "one of --dense and --sparse" in printed(table, "servos", "--dense", "--sparse", code=2)
