"""Every command in the tutorial and the how-to pages is run, page by page, and prints what the page says.

A fence of `console` holds commands after `$` and what they print; `...` stands for anything, and numbers with a point
for any such number. A fence with a title is a file. Other fences are not run.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]
_FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_VARYING = re.compile(r"\d+\.\d+|\d{4}-\d\d-\d\d \d\d:\d\d")


def steps(page: str):
    """Files to write, as (name, text), and commands to run, as (None, (command, output))."""
    for kind, title, body in _FENCE.findall(page):
        if title:
            yield title, body
        elif kind == "console":
            for block in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, output = block.partition("\n")
                yield None, (command, output)


def pattern(output: str) -> re.Pattern[str]:
    lines = [line.rstrip() for line in output.strip("\n").splitlines()]
    parts = [re.escape(_VARYING.sub("0.0", part)) for part in "\n".join(lines).split("...")]
    return re.compile(".*".join(parts), re.DOTALL)


def shown(output: str) -> str:
    return _VARYING.sub("0.0", "\n".join(line.rstrip() for line in output.strip("\n").splitlines()))


@pytest.fixture
def place(tmp_path):
    """A folder that looks like a clone to the commands of a page."""
    for name in ("examples", "configs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_commands_of_a_page_do_what_it_says(page, place):
    bin_dir = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
    ran = 0
    for title, step in steps(page.read_text(encoding="utf-8")):
        if title is not None:
            (place / title).write_text(step, encoding="utf-8")
            continue
        command, output = step
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        if output.strip():
            assert pattern(output).fullmatch(shown(done.stdout)), f"{command}\n{done.stdout}"
        ran += 1
    assert ran > 1


def test_a_page_is_read_as_files_and_commands():
    page = (
        '```yaml title="a.yaml"\nx: 1\n```\n\n```console\n$ run a\nDone in 1.5 s.\n$ run b\n```\n'
        "\n```sh\nnot run\n```\n"
    )
    assert list(steps(page)) == [
        ("a.yaml", "x: 1\n"),
        (None, ("run a", "Done in 1.5 s.\n")),
        (None, ("run b", "")),
    ]


def test_what_is_printed_is_held_against_the_page_but_for_what_varies():
    said = pattern("one 1.5\n...\nlast 3  \n")
    assert said.fullmatch(shown("one 27.25\nanything\nelse\nlast 3\n"))
    assert not said.fullmatch(shown("one 27.25\nanything\nlast 4\n"))
