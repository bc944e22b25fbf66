"""Thresholds and questions that a snapshot must meet before it is published."""

import pytest
from pydantic import ValidationError

from transforms.report.figures import Figures
from transforms.report.gate import faults_of as missed
from transforms.report.quality import faults_of, shift
from transforms.report.settings import NO_THRESHOLDS, GateSettings, QualitySettings

FIGURES = Figures(
    chunks_seen=100, documents_seen=40, tiny=30, oversize=2, without_vector=5, repeated=50, stale=4, suspect=8,
    languages={"en": 30, "de": 10},
)  # fmt: skip


def test_nothing_is_checked_that_is_not_set():
    assert list(faults_of(NO_THRESHOLDS, FIGURES, {"ja": 40})) == []


@pytest.mark.parametrize(
    ("key", "most", "said"),
    [
        ("max_tiny_share", 0.29, "30 of 100 chunks have less than 20 characters, more than quality."),
        ("max_oversize_share", 0, "2 of 100 chunks are longer than size.max"),
        ("max_repeated_share", 0.4, "50 of 100 chunks have a text that another chunk has"),
        ("max_empty_share", 0.01, "5 of 100 chunks have no vector"),
        ("max_suspect_share", 0.1, "8 of 40 documents have a text that may be garbage"),
        ("max_stale_share", 0.05, "4 of 40 documents keep old rows"),
    ],
)  # fmt: skip
def test_a_share_over_its_threshold_is_a_fault_and_one_at_it_is_none(key, most, said):
    [fault] = faults_of(QualitySettings(**{key: most}), FIGURES, {})
    assert fault.startswith(said)
    assert list(faults_of(QualitySettings(**{key: 0.5}), FIGURES, {})) == []


def test_the_shift_of_languages_is_half_the_sum_of_the_differences():
    assert shift({"en": 10, "de": 10}, {"en": 30, "de": 10}) == pytest.approx(0.25)
    assert shift({"en": 1}, {"ja": 5}) == 1
    assert shift({}, {"ja": 5}) == 0


def test_languages_that_moved_too_far_are_a_fault_but_not_of_a_few_documents():
    settings = QualitySettings(max_language_shift=0.2)
    [fault] = faults_of(settings, FIGURES, {"en": 20, "de": 20})
    assert fault.startswith("the languages of documents moved by 0.25")
    assert list(faults_of(settings, FIGURES, {"en": 2, "de": 2})) == []


def test_a_gate_names_the_measure_that_is_missed():
    gate = GateSettings.model_validate({"questions": "q.jsonl", "recall@5": 0.8, "mrr": 0.5})
    assert gate.least == (("recall@5", 0.8), ("mrr", 0.5))
    assert list(missed(gate.least, {"recall@5": 0.75, "mrr": 0.5})) == [
        "recall@5 is 0.750, under gate.recall@5 = 0.8"
    ]


@pytest.mark.parametrize(
    "keys", [{}, {"recal@5": 0.8}, {"recall@0": 0.5}, {"mrr": 2}, {"mrr": "high"}, {"mrr": True}]
)
def test_a_gate_without_a_measure_or_with_one_that_is_none_is_refused(keys):
    with pytest.raises(ValidationError, match="measure"):
        GateSettings.model_validate({"questions": "q.jsonl", **keys})
