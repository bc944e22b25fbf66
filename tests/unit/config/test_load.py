"""From a YAML file to a checked job, and every fault in words."""

import pytest

from pipeline.config import load_config
from pipeline.config.models import common_root
from transforms.model.errors import ConfigError


@pytest.fixture
def load(tmp_path):
    def write_and_load(text, **env):
        path = tmp_path / "job.yaml"
        path.write_text(text, encoding="utf-8")
        return load_config(path, env)

    return write_and_load


MINIMAL = """
table: out
sources:
  - name: docs
    root: corpus/docs
"""


def test_a_minimal_job_needs_a_table_and_a_source(load):
    job = load(MINIMAL)
    assert job.table == "out"
    assert job.sources[0].include == ("**",)
    assert job.sources[0].strategy == "verbatim"


def test_sources_inherit_the_defaults_key_by_key(load):
    job = load(
        """
table: out
defaults:
  size: {target: 500, max: 700}
sources:
  - {name: a, root: a}
  - {name: b, root: b, size: {max: 900}}
"""
    )
    assert [(s.size.target, s.size.max) for s in job.sources] == [(500, 700), (500, 900)]


def test_every_fault_is_named_at_once_with_its_path_and_value(load):
    with pytest.raises(ConfigError) as caught:
        load(
            """
table: out
embeder: {kind: static}
sources:
  - {name: a, root: a, size: {target: many}}
  - {name: b, root: b, strategy: magic}
limits: {max_rejected_share: 7}
"""
        )
    message = str(caught.value)
    assert message.splitlines()[1:] == [
        '  sources[0].size.target: must be a whole number (got "many")',
        "  sources[1].strategy: must be one of `verbatim`, `semantic`, `sections`, `headings`, `window`, "
        '`recursive`, `tokens`, `records`, `whole`, `code` (got "magic")',
        "  limits.max_rejected_share: must be at most 1.0 (got 7)",
        "  embeder: is no key here; did you mean `embedder`?",
    ]


def test_a_fault_in_the_defaults_is_named_there_and_once(load):
    with pytest.raises(ConfigError) as caught:
        load(
            "table: out\ndefaults: {size: {max: big}}\nsources: [{name: a, root: a}, {name: b, root: b}]\n"
        )
    assert str(caught.value).count("big") == 1
    assert "defaults.size.max" in str(caught.value)


def test_a_variable_is_taken_from_the_environment(load):
    job = load(MINIMAL.replace("out", "gs://${BUCKET}/table"), BUCKET="b1")
    assert job.table == "gs://b1/table"


def test_a_missing_variable_is_named_with_the_key_that_wants_it(load):
    with pytest.raises(ConfigError, match=r"table: the environment variable BUCKET is not set"):
        load(MINIMAL.replace("out", "gs://${BUCKET}/table"))


def test_a_missing_variable_hides_no_other_fault(load):
    with pytest.raises(ConfigError) as caught:
        load("table: ${BUCKET}/${FOLDER}\nsources: [{name: 7, root: '${FOLDER}'}]\n")
    assert str(caught.value).splitlines()[1:] == [
        '  sources[0].name: must be text (got 7); put it in quotes: "7"',
        "  table: the environment variables BUCKET, FOLDER are not set",
        "  sources[0].root: the environment variable FOLDER is not set",
    ]


def test_a_value_from_the_environment_is_never_shown(load):
    with pytest.raises(ConfigError) as caught:
        load(MINIMAL + "    strategy: ${SECRET}\n", SECRET="s3cr3t")
    assert "s3cr3t" not in str(caught.value)
    assert "${SECRET}" in str(caught.value)


def test_a_value_from_the_environment_is_not_shown_by_a_rule_that_quotes_it_either(load):
    with pytest.raises(ConfigError) as caught:
        load(MINIMAL.replace("corpus/docs", "${SECRET}"), SECRET="ftp://s3cr3t")
    assert str(caught.value).splitlines()[1] == (
        "  sources[0].root: ${SECRET}: there is no store for ftp://; use a local folder, gs://, s3:// or az:// "
        '(got "${SECRET}")'
    )


def test_a_key_that_stands_twice_is_refused(load):
    with pytest.raises(ConfigError, match="`table` stands twice"):
        load("table: a\ntable: b\nsources: []\n")


def test_two_sources_of_one_name_are_refused(load):
    with pytest.raises(ConfigError, match="more than one is called docs"):
        load(MINIMAL + "  - {name: docs, root: other}\n")


def test_two_sources_of_the_same_objects_are_refused(load):
    with pytest.raises(ConfigError, match="read the same objects"):
        load(MINIMAL + "  - {name: more, root: corpus/docs}\n")


@pytest.mark.parametrize("text", ["", "- a\n", "table: [\n", "just text\n"])
def test_a_file_that_is_no_mapping_is_refused_with_a_sentence(load, text):
    with pytest.raises(ConfigError):
        load(text)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match="There is no configuration file"):
        load_config(tmp_path / "none.yaml")


def test_whole_uris_in_include_give_the_root(load):
    job = load(
        "table: out\nsources: [{name: help, include: ['gs://corpus/help/**', 'gs://corpus/faq/*.md']}]\n"
    )
    assert job.sources[0].root == "gs://corpus"
    assert job.sources[0].include == ("help/**", "faq/*.md")


@pytest.mark.parametrize(
    ("patterns", "root"),
    [
        (["gs://b/help/**"], "gs://b/help/"),
        (["gs://b/help/a*.md", "gs://b/helpers/**"], "gs://b/"),
        (["/data/x.md"], "/data/"),
        (["**"], ""),
        (["a/b/**", "a/c/**"], "a/"),
        (["a/b/**", "c/b/**"], ""),
    ],
)
def test_the_root_is_the_longest_common_folder(patterns, root):
    assert common_root(patterns) == root
