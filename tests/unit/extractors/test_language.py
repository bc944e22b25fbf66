"""Which language a document is in, by its words and by what the file states."""

import pytest

from transforms.extractors.language import with_language
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import Document
from transforms.structure.blocks import parse_blocks

GERMAN = (
    "Bitte prüfen Sie die Batterie, bevor Sie den Rover über das Feld fahren, da eine niedrige Spannung die "
    "Motoren anhalten kann. Danach öffnen Sie das Ventil, warten eine Minute und lesen den Druck ab. Steigt er "
    "nicht, so ist die Leitung verstopft und muss gereinigt werden.\n"
)


def language(text: str, stated: str | None = None) -> tuple[str | None, tuple[str, ...]]:
    document = Document(text, parse_blocks(text, "markdown"), "text/markdown", "test/1", language=stated)
    found = with_language(document)
    return found.language, found.warnings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The vent valve stays open.", "en"),
        ("Das Ventil bleibt offen.", "de"),
        ("Ventil zůstává otevřený.", "cs"),
        ("Клапан остаётся открытым.", "ru"),
        ("בדוק את הסוללה לפני הנסיעה, כי מתח נמוך עלול לעצור את המנועים.", "he"),
        ("阀门保持打开。驾驶前请检查电池。", "zh"),
        ("バルブは開いたままです。", "ja"),
        ("12.5 | 13.7 | 22.1\n33 | 44 | 55", None),
        ("Kubernetes", None),
        ("a: one", None),
    ],
)
def test_words_tell_the_language_where_they_are_clear(text: str, expected: str | None) -> None:
    assert language(text) == (expected, ())


def test_many_clear_words_overrule_what_a_template_states() -> None:
    assert language(GERMAN, "en") == ("de", ("language_stated:en",))


def test_what_is_stated_stays_where_it_agrees_or_the_words_are_few() -> None:
    assert language(GERMAN, "de_AT") == ("de-AT", ())
    assert language("Das Ventil bleibt offen.", "en") == ("en", ())
    assert language("12 34", "fr") == ("fr", ())


def test_code_points_that_are_no_characters_are_passed_over() -> None:
    assert language(f"\ufffe{GERMAN}\ufdd0\x85") == ("de", ())


def test_code_is_no_language() -> None:
    assert language("```\nwhile not open: wait for the valve to close and return\n```\n") == (None, ())


def test_every_document_of_an_object_is_told_by_itself() -> None:
    lines = '{"a": "The vent valve stays open."}\n{"a": "Das Ventil bleibt offen."}\n'
    found = extract(lines.encode(), "a.jsonl", ExtractSettings())
    assert [document.language for document in found.documents] == ["en", "de"]
    mail = b"From: a@b.example\r\nSubject: Ventil\r\n\r\nDas Ventil bleibt heute den ganzen Tag offen.\r\n"
    assert extract(mail, "a.eml", ExtractSettings()).documents[0].language == "de"


def test_detection_can_be_left_out() -> None:
    settings = ExtractSettings(detect_language=False)
    assert extract(GERMAN.encode(), "a.md", settings).documents[0].language is None
