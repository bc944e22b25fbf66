"""What is printed reaches whoever reads it, or says that it does not; a run that is done stays done."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.commands import chunk, extract
from pipeline.commands.counts import counts_table
from pipeline.output import plain_console, print_figures
from transforms.model.errors import ConfigError
from transforms.report.counted import COUNTED

RUN = """
import sys
from pipeline.output import done_before_it_is_said, json_line, plain_console, prepare_output, printed
prepare_output()
with printed():
    {body}
"""


def run(body, stdout=subprocess.PIPE, **env):
    command = [sys.executable, "-c", RUN.format(body=body)]
    done = subprocess.run(
        command, check=False, stdout=stdout, stderr=subprocess.PIPE, timeout=60, env={**os.environ, **env}
    )
    return done.returncode, done.stdout, done.stderr.decode()


def closed_pipe():
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def test_names_are_no_markup_and_no_emoji(capsys):
    names = ["[/]", "[b]b", ":smile:", "[link=x]"]
    plain_console().print(counts_table({name: {} for name in names}, {}))
    plain_console().print("[/] :smile:")
    printed = capsys.readouterr().out
    assert [name for name in names if name not in printed] == []
    assert printed.endswith("[/] :smile:\n")


def test_no_figure_is_cut_off_where_the_place_is_narrow(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    name = "handbooks-of-all-departments"
    print_figures(counts_table({name: dict.fromkeys(COUNTED, 12_345_678)}, {}))
    assert capsys.readouterr().out.splitlines()[1].split() == [name, *["12,345,678"] * len(COUNTED)]


def test_what_a_terminal_has_no_letters_for_is_written_in_escapes():
    code, out, err = run("plain_console().print('caf\\u00e9 \\u00d7 \\u65e5')", PYTHONIOENCODING="ascii")
    assert (code, out, err) == (0, b"caf\\xe9 \\xd7 \\u65e5\n", "")


@pytest.mark.parametrize(
    ("encoding", "line"), [("ascii", b'{"a": "caf\\u00e9"}\n'), ("utf-8", b'{"a": "caf\xc3\xa9"}\n')]
)
def test_json_is_json_in_any_encoding(encoding, line):
    assert run("print(json_line({'a': 'caf\\u00e9'}))", PYTHONIOENCODING=encoding) == (0, line, "")


full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
FULL = "parquetry: the output cannot be written: No space left on device.\n"


@full
@pytest.mark.parametrize("say", ["print('x')", "plain_console().print('x')"])
def test_a_full_disk_behind_the_output_is_one_sentence(say):
    with Path("/dev/full").open("wb") as out:
        assert run(say, out) == (1, None, FULL)


@full
def test_a_run_that_is_done_is_done_although_its_end_cannot_be_printed():
    with Path("/dev/full").open("wb") as out:
        body = "with done_before_it_is_said(): print('x')\n    sys.exit(4)"
        assert run(body, out) == (4, None, FULL)


@pytest.mark.parametrize("say", ["print('x')", "plain_console().print('x')"])
def test_a_reader_that_went_away_is_told_nothing(say):
    out = closed_pipe()
    assert run(say, out) == (1, None, "")
    assert run(f"with done_before_it_is_said(): {say}\n    sys.exit(0)", out) == (0, None, "")
    os.close(out)


def test_a_closed_output_is_no_fault():
    body = "plain_console().print('x'); print('y')"
    command = f'{sys.executable} -c "$1" >&-'
    done = subprocess.run(
        ["sh", "-c", command, "sh", RUN.format(body=body)], check=False, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_error_of_the_program_stays_one():
    code, _out, err = run("open('/nowhere/at/all')")
    assert code == 1
    assert "FileNotFoundError" in err


def test_a_command_that_is_given_a_pipe_does_not_wait_for_it(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match="pipe is no regular file"):
        chunk.run(str(tmp_path / "pipe"), strategy=None, config=None, source=None, as_json=True)
    assert extract.run([str(tmp_path / "pipe")], sys.stdout) == 1
    assert "is no regular file" in capsys.readouterr().out
