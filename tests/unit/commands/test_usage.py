"""What a person is told who calls the program wrongly."""

import sys

import pytest

from pipeline.cli import main


def told(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["parquetry", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, capsys.readouterr()


def test_a_wrong_call_is_answered_in_lines_that_no_box_breaks(monkeypatch, capsys):
    name = "folder/" * 30 + "job.yaml"
    code, said = told(monkeypatch, capsys, "config", "check", "a.yaml", name)
    assert code == 2
    assert said.out == ""
    lines = said.err.splitlines()
    assert lines[0].startswith("Usage: ")
    assert lines[0].endswith("config check [OPTIONS] {CONFIG}")
    # The words around it are of whichever version parses the line.
    assert lines[-1].startswith("Error: Got unexpected extra argument")
    assert f"({name})" in lines[-1]


@pytest.mark.parametrize(("command", "hint"), [("run", True), ("plan", False)])
def test_an_option_that_is_none_of_run_may_be_one_of_beam(monkeypatch, capsys, command, hint):
    code, said = told(monkeypatch, capsys, command, "job.yaml", "--runner=FlinkRunner")
    assert code == 2
    assert "Error: No such option: --runner\n" in said.err
    assert ("Options for Beam stand after `--`." in said.err) is hint


def test_without_a_command_the_commands_are_shown(monkeypatch, capsys):
    code, said = told(monkeypatch, capsys)
    assert code == 2
    assert "gs://, s3://, az://" in " ".join((said.out + said.err).split())


def test_the_code_of_a_command_is_that_of_the_program(monkeypatch, capsys):
    assert told(monkeypatch, capsys, "--version")[0] == 0
    code, said = told(monkeypatch, capsys, "show", "nowhere/at/all")
    assert (code, said.err.startswith("parquetry: There is no published snapshot at nowhere/at/all")) == (
        2,
        True,
    )
