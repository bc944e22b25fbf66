"""The bundled corpus, indexed by the real job: its questions find the files that answer them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from docs import sample
from pipeline.search import search

ROOT = Path(__file__).parents[2]
SHARE = 0.9


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    return sample.run_demo(tmp_path_factory.mktemp("demo") / "table")


@pytest.fixture(scope="module")
def table(outcome):
    return outcome.table


def test_the_sample_in_the_readme_is_what_the_demo_prints(outcome):
    """Where the output changed on purpose, `make sample` writes it anew."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "<!-- begin sample -->" in page
    shown = sample.printed(outcome, seconds=1.0)
    assert sample.without_varying(page) == sample.without_varying(sample.filled(page, shown))


def questions() -> list[dict]:
    lines = (ROOT / "examples" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def answers(question: dict, hit) -> bool:
    """Whether a hit is in one of the expected files; records of a file are named ``file#record``."""
    return f"{hit.source_name}/{hit.doc_id}".split("#")[0] in question["expect_any_of"]


def test_most_english_questions_find_an_expected_file_among_the_first_three(table):
    asked = [question for question in questions() if question["lang"] == "en" and question["expect_any_of"]]
    missed = [
        question["query"]
        for question in asked
        if not any(answers(question, hit) for hit in search(str(table), question["query"], top=3))
    ]
    assert len(missed) <= (1 - SHARE) * len(asked), missed


def test_a_question_that_nothing_answers_scores_lower_than_those_that_something_does(table):
    def best(question: dict) -> float:
        return search(str(table), question["query"], top=1, by="dense")[0].score

    unanswered = [best(question) for question in questions() if not question["expect_any_of"]]
    answered = [best(q) for q in questions() if q["lang"] == "en" and q["expect_any_of"]]
    assert unanswered
    assert max(unanswered) < sorted(answered)[len(answered) // 2]
