"""How questions and their answers are read, and what of them is refused."""

import json

import pytest

from transforms.evaluation.questions import (
    Answers,
    Question,
    Text,
    find_answers,
    questions_of,
    read_questions,
)
from transforms.model.errors import ConfigError

TEXTS = [
    Text("docs/a.md", "/c/a.md", "Open the valve.\n\nPress start.\n", ((0, 17, 1), (17, 30, 2))),
    Text("docs/all.jsonl#1", "/c/all.jsonl#1", "The valve is red."),
    Text("docs/all.jsonl#2", "/c/all.jsonl#2", "Press start twice."),
]


def answers(**keys) -> Answers:
    question = Question(id="q", question="How?", **keys)
    return find_answers([question], TEXTS, "questions.jsonl")[0]


def test_a_file_of_questions_that_is_not_there_is_told_without_numbers_of_the_system(tmp_path):
    path = tmp_path / "none.jsonl"
    with pytest.raises(ConfigError) as error:
        questions_of(path)
    assert str(error.value) == f"{path} cannot be read: there is no such file."


def test_a_span_is_found_in_each_document_that_may_answer():
    found = answers(documents=["docs/a.md", "docs/all.jsonl"], spans=["Press start"])
    assert found == Answers(frozenset({0, 1, 2}), ((0, 17, 28), (2, 0, 11)))


def test_a_page_is_a_span():
    assert answers(documents=["/c/a.md"], page=2) == Answers(frozenset({0}), ((0, 17, 30),))


def test_a_record_can_be_named_alone():
    assert answers(documents=["docs/all.jsonl#2"]) == Answers(frozenset({2}), ())


def test_all_that_does_not_fit_is_told_at_once():
    questions = [
        Question(id="q1", question="?", documents=("docs/none.md",)),
        Question(id="q2", question="?", documents=("docs/a.md",), spans=("Close the valve",)),
        Question(id="q3", question="?", documents=("docs/a.md",), page=3),
    ]
    with pytest.raises(ConfigError) as error:
        find_answers(questions, TEXTS, "questions.jsonl")
    assert str(error.value).splitlines() == [
        "questions.jsonl does not fit the corpus:",
        "  q1: the corpus has no document docs/none.md",
        "  q2: no document that answers it contains 'Close the valve'",
        "  q3: no document that answers it has a page 3",
    ]


def test_lines_are_read_and_named_by_their_number():
    line = json.dumps({"question": "How?", "documents": ["a"]})
    found = read_questions([line, "", line], "q.jsonl")
    assert [one.id for one in found] == ["line 1", "line 3"]


def test_all_lines_that_are_no_questions_are_told_at_once():
    lines = [
        "{}",
        '{"question": "How?", "documents": []}',
        '{"question": "How?", "docs": ["a"]}',
        "no json",
    ]
    with pytest.raises(ConfigError) as error:
        read_questions(lines, "q.jsonl")
    said = str(error.value).splitlines()
    assert said[:3] == [
        "q.jsonl cannot be used:",
        "  line 1: question: Field required",
        "  line 2: names no document that answers it",
    ]
    assert said[3] == "  line 3: docs: Extra inputs are not permitted"
    assert said[4].startswith("  line 4: Invalid JSON")


def test_a_file_without_questions_is_told():
    with pytest.raises(
        ConfigError,
        match=r"^q\.jsonl has no question: write one JSON object a line, with `question` and `documents`\.$",
    ):
        read_questions(["", " "], "q.jsonl")
