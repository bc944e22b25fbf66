"""The bundled corpus, indexed by the real job: its questions find the files that answer them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.config import load_config
from pipeline.run import run_job
from pipeline.search import search

ROOT = Path(__file__).parents[2]
SHARE = 0.7


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    config = load_config(ROOT / "configs" / "demo.yaml")
    sources = tuple(
        source.model_copy(update={"root": str(ROOT / source.root)}) for source in config.sources
    )
    table = tmp_path_factory.mktemp("demo") / "table"
    run_job(config.model_copy(update={"table": str(table), "sources": sources}))
    return table


def questions() -> list[dict]:
    lines = (ROOT / "examples" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def answers(question: dict, hit) -> bool:
    """Whether a hit is in one of the expected files; records of a file are named ``file#record``."""
    return f"{hit.source_name}/{hit.doc_id}".split("#")[0] in question["expect_any_of"]


def test_most_english_questions_find_an_expected_file_among_the_first_five(table):
    asked = [question for question in questions() if question["lang"] == "en" and question["expect_any_of"]]
    missed = [
        question["query"]
        for question in asked
        if not any(answers(question, hit) for hit in search(str(table), question["query"], top=5))
    ]
    assert len(missed) <= (1 - SHARE) * len(asked), missed


def test_a_question_that_nothing_answers_scores_lower_than_those_that_something_does(table):
    def best(question: dict) -> float:
        return search(str(table), question["query"], top=1)[0].score

    unanswered = [best(question) for question in questions() if not question["expect_any_of"]]
    answered = [best(q) for q in questions() if q["lang"] == "en" and q["expect_any_of"]]
    assert unanswered
    assert max(unanswered) < sorted(answered)[len(answered) // 2]
