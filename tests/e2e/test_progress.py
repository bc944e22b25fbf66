"""The real command on a terminal of its own, and on none."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_STEERING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def command(tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for n in range(8):
        (corpus / f"{n}.md").write_text(f"# Page {n}\n\n" + f"Sentence of page {n}. " * 60)
    config = tmp_path / "job.yaml"
    config.write_text(
        f"table: {tmp_path}/table\nembedder: {{kind: hash}}\nrun: {{workers: 1, shard_bytes: 2000}}\n"
        f"sources: [{{name: docs, root: {corpus}}}]\n"
    )
    return [sys.executable, "-m", "pipeline.cli", "run", str(config)]


def on_a_terminal(command):
    """The exit code, and all that a terminal of 120 columns was sent."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    sent = b""
    while chunk := _read(ours):
        sent += chunk
    os.close(ours)
    return process.wait(), sent.decode()


def _read(handle):
    try:
        return os.read(handle, 65536)
    except OSError:
        # The other end is closed.
        return b""


def test_a_terminal_sees_the_run_move_and_then_only_its_result(command):
    code, sent = on_a_terminal(command)
    assert code == 0
    frames = re.split(r"[\r\n]+", _STEERING.sub("", sent))
    assert any("starting" in frame for frame in frames)
    shards = {
        int(found[1]) for frame in frames if (found := re.search(r" of (\d+) shards? \(8 objects\)", frame))
    }
    assert len(shards) == 1
    assert any(f"{max(shards)} of {max(shards)} shards" in frame for frame in frames)
    assert any("8 documents" in frame and "publishing" in frame for frame in frames)
    # The bar's line is erased behind it, and the cursor is there again.
    assert "\x1b[2K" in sent[sent.rindex("━") :]
    assert sent.rindex("\x1b[?25h") > sent.rindex("\x1b[?25l")
    assert "Published snapshot 1" in frames[-2] or "Published snapshot 1" in frames[-1]


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_a_terminal_sees_no_progress_where_none_is_wanted(command, option):
    code, sent = on_a_terminal([*command, option])
    assert code == 0
    assert "starting" not in sent
    assert "\x1b[?25l" not in sent


def test_without_a_terminal_the_result_stands_alone_on_standard_output(command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    # A machine under load takes long enough for a line or two.
    assert all(re.match(r"parquetry: 0:\d\d:\d\d: ", line) for line in done.stderr.splitlines())
    assert done.stdout.startswith("source ")
    assert "Published snapshot 1" in done.stdout.splitlines()[-1]
    assert "\x1b" not in done.stdout + done.stderr
