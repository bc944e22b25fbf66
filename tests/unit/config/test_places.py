"""Roots, tables and globs that are written so that nothing would be found, or the wrong thing, and nobody told."""

import pytest

from pipeline.config import load_config
from transforms.model.errors import ConfigError


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write_and_load(table="out", **source):
        keys = {"name": "docs", "root": "corpus"} | source
        lines = "\n".join(f"    {key}: {value}" for key, value in keys.items() if value is not None)
        path = tmp_path / "job.yaml"
        path.write_text(f"table: {table}\nsources:\n  -\n{lines}\n", encoding="utf-8")
        return load_config(path, {})

    return write_and_load


def test_one_folder_is_one_root_however_it_is_written(load):
    roots = ["corpus", "./corpus", "corpus/", ".//corpus/."]
    assert {load(root=root).sources[0].root for root in roots} == {"corpus"}
    assert load(root=None, include="['./corpus/*.md']").sources[0].root == "corpus"


def test_a_tilde_is_the_home_folder_in_table_and_root(load, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")
    job = load(table="~/t", root="~/c")
    assert (job.table, job.sources[0].root) == ("/home/ann/t", "/home/ann/c")


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"table": "'  '"}, "table: '  ' names no folder"),
        ({"table": "gs:/x"}, "table: gs:/x is no URI; write gs://x"),
        ({"root": "'  '"}, r"sources\[0\].root: '  ' names no folder"),
        ({"root": "s3:/x"}, r"sources\[0\].root: s3:/x is no URI"),
        ({"root": "ftp://h/x"}, r"sources\[0\].root: ftp://h/x: there is no store for ftp://"),
        ({"root": "gs:///x"}, r"sources\[0\].root: gs:///x names no bucket"),
    ],
)
def test_what_names_no_place_is_refused_with_its_key(load, keys, sentence):
    with pytest.raises(ConfigError, match=sentence):
        load(**keys)


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("[", r"'\[' has a \[ without its \]"),
        ("a[b/c]d", r"has a \[ without its \]"),
        ("../*", r"has a segment \. or \.\."),
        ("./*.md", r"has a segment \. or \.\."),
        ("/abs/*", "begins with a slash"),
        ("gs://b/*", "is a whole URI"),
        ("docs/", r"matches no object; write docs/\*\* for all below a folder"),
        ("**/*.{md,txt}", "has braces, which are characters like others"),
    ],
)
@pytest.mark.parametrize("key", ["include", "exclude"])
def test_a_glob_that_can_match_nothing_is_refused(load, key, pattern, sentence):
    with pytest.raises(ConfigError, match=rf"sources\[0\].{key}: .*{sentence}"):
        load(**{key: f"['{pattern}']"})


@pytest.mark.parametrize(
    "pattern",
    ["**", "[ab].md", "[!a].md", r"\[draft\].md", "[[]x", "[]a]", "{x}", r"\{a,b\}", "a//b", "100%"],
)
def test_a_glob_that_may_match_passes(load, pattern):
    assert load(include=f"['{pattern}']").sources[0].include == (pattern,)


@pytest.mark.parametrize(
    ("table", "root"), [("t", "t"), ("t", "./t/snapshots"), ("gs://b/t", "gs://b/t/x")]
)
def test_a_source_inside_the_table_is_refused(load, table, root):
    with pytest.raises(ConfigError, match=f"the table's own folder is no source: docs would read {table}"):
        load(table=table, root=root)


def test_a_table_inside_a_source_passes(load):
    assert load(table="corpus/build/t", root="corpus").table == "corpus/build/t"


def test_no_name_gets_the_folder_of_another_source(load):
    job = load(name="A B")
    lookalike = load(name="s-a-b-fea4c5ce")
    assert job.sources[0].slug == "s-a-b-fea4c5ce"
    assert lookalike.sources[0].slug == "s-s-a-b-fea4c5ce-ecc87f7a"


def test_sources_that_would_share_a_folder_of_the_table_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pipeline.config.models.slug", lambda name: "same")
    path = tmp_path / "job.yaml"
    path.write_text("table: t\nsources: [{name: one, root: a}, {name: two, root: b}]\n")
    with pytest.raises(ConfigError, match="the sources one and two would share one folder of the table"):
        load_config(path, {})
