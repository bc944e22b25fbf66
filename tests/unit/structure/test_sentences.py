"""Where sentences, words and graphemes end."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.structure import sentences
from transforms.structure.breaks import last_phrase
from transforms.structure.phrases import phrase_ends
from transforms.structure.sentences import sentence_rules, sentence_spans


def split(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentence_spans(text, 0, len(text))]


@pytest.mark.parametrize(
    "wanted",
    [
        ["Ask Dr. Lee!", "Then go home."],
        ["See e.g. Section 2, Fig. 3, etc. and pp. 4.", "Next."],
        ["J. R. Tolkien wrote it.", "He did."],
        ["It costs 3.50 or 1,000.75 now.", "Pay."],
        ["Go to https://a.example/b.html?c=d.e now.", "Then stop."],
        ["Write to a.b@c.example.", "We answer."],
        ['He said "Go."', "She went."],
        ["(It is so.)", "And so on."],
        ["It is **hot.**", "Do not touch it.", "See *this.*", "And _that._", "End."],
        ["Shown before.[12]", "And again.[^3]", "And here.¹", "Then see [1] for it."],
        ["»Die Welt ist klein.«", "Das schrieb er.", "‹Ja.›", "So war es."],
        ["What?!", "No…", "Yes!!!", "Well..."],
        ["Steps:\n1. Open it.", "2. Shut it."],
        ["one", "two"],
        ["料金は三つです。", "解約できますか？", "「返金します。」", "はい"],
        ["El Sr. Gómez llegó.", "¿Qué dijo?", "¡Nada!", "Se fue."],
        ["Gov. Reed, Gen. Hall and Rep. Snow agree with Eq. 4 and Sec. 2.", "Next."],
        ["Im 19. Jahrhundert und im 2. Weltkrieg war es so.", "Es waren 19.", "Dann kam der 3. Mann."],
        ["Das gilt z.B. für Dr. Müller bzw. Prof. Lang.", "Es gilt ca. 5 Tage.", "Ende."],
        ["Он живёт на ул. Ленина, см. рис. 2 и т.д. всегда.", "Потом ушёл.", "Да!"],
        ["यह है।", "वह भी।"],
        ["هل هذا؟", "نعم."],
    ],
)
def test_sentences_end_where_a_reader_would_end_them(wanted) -> None:
    cjk = all(part[-1] in "。？」い" for part in wanted)
    text = "" if cjk else " "
    joined = "one\n\ntwo" if wanted == ["one", "two"] else text.join(wanted)
    assert split(joined) == wanted


@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        ("en", ['Dr. Lee paid $3.50 on Jan. 5.', 'He said "Stop!" and left.', "See https://a.b/cd.html?e=fg.", "Why?"]),
        ("de", ["Das gilt z. B. am 3. Mai für Hrn. Dr. Meier.", "„Komm!“ rief er.", "Nr. 5 kostet ca. 10 EUR."]),
        ("fr", ["M. Dupont arrive av. midi.", "« Oui ! » dit-il.", "Voir p. 5, chap. Deux.", "Fin."]),
        ("es", ["El Sr. Gil vive en la Avda. Goya.", "¿Vienes?", "Sí, p.ej. Ana.", "Fin."]),
        ("it", ["Il Sig. Rossi abita qui.", "Vedi pag. 5, cap. Due.", "L'Ing. Bianchi dorme.", "Ecco!"]),
        ("pt", ["O Sr. Silva mora aqui.", "Veja a pág. 5, cap. Dois.", "A Dra. Costa saiu.", "Fim."]),
        ("ru", ["Это г. Москва, ул. Ленина.", "См. рис. 2 и табл. 3.", "Почему?", "Потому что."]),
        ("zh", ["今天天气很好。", "你去吗？", "“我去。”", "好！"]),
        ("ja", ["料金は三つです。", "解約できますか？", "「はい。」", "以上"]),
        ("ko", ["요금은 세 가지입니다.", "해지할 수 있나요?", "가격은 3.5달러입니다.", "끝!"]),
        ("ar", ["هذا هو الأول.", "هل تريد المساعدة؟", "نعم!", "اكتب إلينا."]),
        ("hi", ["यह पहला है।", "क्या आप आएँगे?", "डॉ. शर्मा आए।", "ठीक है।"]),
        ("th", ["วันนี้อากาศดี", "ฉันไปเดินเล่น", "ของดี ๆ มีมาก", "ราคา 35 บาท"]),
    ],
)  # fmt: skip
def test_each_language_is_cut_into_its_sentences(language, wanted) -> None:
    joined = ("" if language in ("zh", "ja") else " ").join(wanted)
    assert split(joined) == wanted
    rules = sentence_rules((language,))
    spans = sentence_spans(joined, 0, len(joined), rules)
    assert [joined[start:end].strip() for start, end in spans] == wanted


def test_abbreviations_are_those_of_the_languages_and_those_given() -> None:
    def count(rules: sentences.SentenceRules, text: str) -> int:
        return len(list(sentence_spans(text, 0, len(text), rules)))

    assert count(sentence_rules(("en",)), "Das gilt bzw. Morgen.") == 2
    assert count(sentence_rules(("de",)), "Das gilt bzw. Morgen.") == 1
    assert count(sentence_rules(("en",)), "See Reg. Two.") == 2
    assert count(sentence_rules(("en",), ("Reg.",)), "See Reg. Two.") == 1
    assert count(sentence_rules(), "one\n\ntwo") == 2
    assert count(sentence_rules(blank_line_ends=False), "one\n\ntwo") == 1


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("今日は天気がいいので散歩に行きました", ["今日は", "天気が", "いいので", "散歩に", "行きました"]),
        ("今天天气很好我想去公园", ["今天", "天气", "很", "好", "我", "想", "去", "公园"]),
        ("วันนี้อากาศดีมาก", ["วัน", "นี้", "อากาศ", "ดี", "มาก"]),
    ],
)
def test_scripts_without_spaces_are_cut_between_phrases(text, phrases) -> None:
    ends = list(phrase_ends(text, 0, len(text)))
    assert [text[start:end] for start, end in zip([0, *ends], ends, strict=False)] == phrases
    assert last_phrase(text, 0, len(text) - 1, 0) == len("".join(phrases[:-1]))


def test_a_lower_case_word_behind_a_full_stop_goes_on_with_the_sentence() -> None:
    assert split("Version approx. two. three. Four.") == ["Version approx. two. three.", "Four."]


def test_a_year_at_the_end_of_a_sentence_ends_it() -> None:
    assert split("It was 1999. We left.") == ["It was 1999.", "We left."]


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("ab A1.!?。」\"')\n\t\u00a0\u0301é👨\u200d"), max_size=40), st.integers(0, 5),
       st.sampled_from(["sentence_spans", "line_spans", "grapheme_spans"]))  # fmt: skip
def test_spans_cover_the_text_without_a_gap(text, start, name) -> None:
    start = min(start, len(text))
    at = start
    for begin, end in getattr(sentences, name)(text, start, len(text)):
        assert begin == at < end
        at = end
    assert at == len(text)
