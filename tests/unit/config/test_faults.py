"""What people are told of a configuration that is wrong: in their words, at the place that they wrote."""

import re

import pytest
from pydantic import ValidationError

from pipeline.config import JobConfig, load_config
from pipeline.config.faults import dotted, faults_of
from pipeline.config.schema import file_schema
from transforms.model.errors import ConfigError

BOMB = "a: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
BOMB_OF_MERGES = "a: &a0 {k: v}\n" + "".join(
    f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 40)
)
FINE = {"table": "out", "sources": [{"name": "a", "root": "a"}]}


@pytest.fixture
def said(tmp_path):
    def load(text):
        path = tmp_path / "job.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(ConfigError) as caught:
            load_config(path, {})
        return str(caught.value).replace(str(path), "job.yaml")

    return load


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("sources: [{name: a, root: a}]", "table: is missing, and it is needed"),
        ("table: t", "sources: is missing, and it is needed"),
        ("table: t\nsources: []", "sources: must have an entry (got [])"),
        (
            "table: t\nsources: {name: a, root: a}",
            'sources: must be a list (got {"name": "a", "root": "a"}); begin each of its entries with a dash',
        ),
        (
            "table: t\nsources: [{name: a, root: a, include: '**/*.md'}]",
            'sources[0].include: must be a list (got "**/*.md"); write ["**/*.md"]',
        ),
        (
            "table: t\nsources: [{name: a, root: a, inclde: ['**']}]",
            "sources[0].inclde: is no key here; did you mean `include`?",
        ),
        (
            "table: t\nsources: [{name: a, root: a, target: 500}]",
            "sources[0].target: is no key here; it belongs in `size`",
        ),
        (
            "table: t\nroot: docs\nsources: [{name: a, root: a}]",
            "root: is no key here; it belongs in a source",
        ),
        (
            "table: t\ndefalts: {}\nsources: [{name: a, root: a}]",
            "defalts: is no key here; did you mean `defaults`?",
        ),
        (
            "table: t\nrun: {zzz: 1}\nsources: [{name: a, root: a}]",
            "run.zzz: is no key here; the keys here are `workers`, `shard_bytes`",
        ),
        (
            "table: t\nrun: {workers: 0}\nsources: [{name: a, root: a}]",
            "run.workers: must be at least 1 or `auto` (got 0)",
        ),
        (
            "table: t\nrun: {workers: many}\nsources: [{name: a, root: a}]",
            'run.workers: must be a whole number or `auto` (got "many")',
        ),
        (
            "table: t\nlimits: {max_rejected_share: 20%}\nsources: [{name: a, root: a}]",
            'limits.max_rejected_share: must be a number (got "20%"); write 0.2',
        ),
        (
            "table: t\nlimits:\nsources: [{name: a, root: a}]",
            "limits: must be keys with values (it has no value)",
        ),
        (
            "table: t\nembedder: static\nsources: [{name: a, root: a}]",
            'embedder: must be keys with values (got "static"); write {kind: static}',
        ),
        (
            "table: t\nembedder: {kind: openai, model: x}\nsources: [{name: a, root: a}]",
            "embedder.dimension: is missing, and it is needed",
        ),
        (
            "table: t\non: 1\nsources: [{name: a, root: a}]",
            "the file: the key true is not text: put it in quotes",
        ),
        (
            "table: {2024-01-01: x}\nsources: [{name: a, root: a}]",
            "table: must be text (got {})",
        ),
        (
            "table: t\nsources: [{name: 2024, root: a}]",
            'sources[0].name: must be text (got 2024); put it in quotes: "2024"',
        ),
        (
            "table: t\nsources: [{name: a, root: a, extract: {ocr: {engine: off}}}]",
            "sources[0].extract.ocr.engine: must be one of `off`, `tesseract` (got false); "
            "YAML reads a bare off or no so: put the word in quotes",
        ),
        (
            "table: t\ndefaults: {size: {mx: 5}}\nsources: [{name: a, root: a}, {name: b, root: b}]",
            "defaults.size.mx: is no key here; did you mean `max`?",
        ),
        (
            "table: t\nsources: [{name: a, root: a, doc_type: {from_metadat: type}}]",
            "sources[0].doc_type.from_metadat: is no key here; did you mean `from_metadata`?",
        ),
    ],
)
def test_a_fault_is_the_key_as_written_the_rule_the_value_and_the_remedy(said, text, line):
    assert f"  {line}" in said(text).splitlines()[1:]


def test_a_source_that_is_wrong_is_not_told_once_more_as_a_list_without_entries(said):
    assert said("table: t\nsources: [{name: a, root: a, size: {unit: words}}]").splitlines() == [
        "job.yaml cannot be used:",
        '  sources[0].size.unit: must be one of `chars`, `tokens` (got "words")',
    ]


def test_the_kinds_of_embedder_are_named_and_the_near_one_is_asked_for(said):
    text = said("table: t\nembedder: {kind: opnai}\nsources: [{name: a, root: a}]")
    assert re.search(
        r'embedder\.kind: must be one of `static`, .* \(got "opnai"\); did you mean `openai`\?', text
    )
    text = said("table: t\nembedder: {model: x}\nsources: [{name: a, root: a}]")
    assert "embedder.kind: is missing, and it is needed: one of `static`, `minilm`" in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("table: x\nsources:\n\t- name: a\n", "line 3, column 1: .* use spaces"),
        ("table: x\nsources: [{name: a, include: [**/*.md]}]\n", r"line 2, .* must be quoted, as in '\*\*/\*\.md'"),
        ("table: [x\n", r"the file ends \(while parsing a flow sequence from line 1 on\)"),
        ("table: a: b\n", "line 1, column 9: .* holds a colon in quotes"),
        ('table: "C:\\Users"\n', "line 1, .* use single quotes"),
        ("table: @x\n", "line 1, column 8: .* Put the value in quotes"),
        ("table: x\ntable: y\n", "line 2, column 1: the key `table` stands twice"),
        ("? [a]\n: b\n", "a key must be a word"),
        ("table: 2024-13-45\n", "month must be in 1..12"),
        ("table: \x07\n", "unacceptable character"),
        ("[" * 5_000, "nested too deep"),
        ("a: &a [*a]\n", "its aliases repeat too much"),
        (BOMB, "aliases repeat too much"),
        (BOMB_OF_MERGES, "aliases repeat"),
        ("- a\n", "must hold keys, such as `table:` and `sources:`, and holds a list"),
        ("only text\n", "and holds a single value"),
        ("# nothing\n", "job.yaml is empty"),
        ("table: t\nroot: /tmp/über\n".encode("latin-1"), "not UTF-8: line 2 holds the byte 0xfc. Save"),
    ],
)  # fmt: skip
def test_what_is_no_yaml_is_told_by_line_with_the_remedy(said, text, words):
    message = said(text)
    assert re.search(words, message)
    assert "<unicode string>" not in message


def test_a_folder_is_no_configuration(tmp_path):
    with pytest.raises(ConfigError, match="is a folder; name the configuration file in it"):
        load_config(tmp_path)


def places(part, where=()):
    """Every key of the file, as a location."""
    while "$ref" in part:
        part = file_schema()["$defs"][part["$ref"].rsplit("/", 1)[-1]]
    for one in (*part.get("anyOf", ()), *part.get("oneOf", ())):
        yield from places(one, where)
    if isinstance(part.get("items"), dict):
        yield (*where, 0)
        yield from places(part["items"], (*where, 0))
    for key, value in part.get("properties", {}).items():
        yield (*where, key)
        yield from places(value, (*where, key))


def with_value(raw, place, value):
    """The configuration with one value in a place, and nothing else in the groups around it."""
    if not place:
        return value
    first, *rest = place
    if isinstance(first, int):
        return [with_value({}, rest, value)]
    inner = raw.get(first, {}) if isinstance(raw, dict) else {}
    below = inner[0] if isinstance(inner, list) and rest else inner
    made = with_value(below, rest[1:], value) if rest and rest[0] == 0 else with_value(below, rest, value)
    return {**(raw if isinstance(raw, dict) else {}), first: [made] if rest and rest[0] == 0 else made}


WRONG = [None, True, -1, 1e99, "x", "", [], ["x"], [[]], {"x": 1}, {}]
PYTHON = re.compile(
    r"[Ii]nput|[Tt]uple|dictionary|NoneType|\bNone\b|\bTrue\b|\bFalse\b|constrained|literal\[|validat|function-"
    r"|instance of|\bint\b|\bstr\b"
)
PLACES = [place for place in dict.fromkeys(places(file_schema())) if place[0] != "defaults"]


@pytest.mark.parametrize("place", PLACES, ids=dotted)
def test_no_value_anywhere_is_answered_in_the_words_of_python(place):
    for value in WRONG:
        raw = with_value(FINE, place, value)
        try:
            JobConfig.model_validate(raw)
        except ValidationError as error:
            lines = faults_of(error, raw).values()
            assert lines
            assert not [line for line in lines if PYTHON.search(line)]
