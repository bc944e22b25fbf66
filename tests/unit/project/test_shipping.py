"""What is installed: both packages whole, their data, and nothing else."""

import ast
import json
import re
from pathlib import Path

from setuptools import find_packages

ROOT = Path(__file__).parents[3]
_CONDITION = r'(python_version [<>=]+ "3\.\d+"|sys_platform == "linux"( and platform_machine == "x86_64")?)'
PIN = re.compile(rf"[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+(; {_CONDITION})?")
SHIPPED = ("pipeline", "transforms")


def test_only_the_two_packages_are_installed() -> None:
    found = find_packages(str(ROOT), include=["pipeline*", "transforms*"])
    assert {name.split(".")[0] for name in found} == set(SHIPPED)


def test_every_folder_with_code_is_a_package_and_so_is_installed() -> None:
    folders = {path.parent for package in SHIPPED for path in (ROOT / package).rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_the_constraints_pin_versions_and_nothing_of_one_machine() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    assert [line for line in pins if not PIN.fullmatch(line)] == []


def required() -> set[str]:
    """The packages that setup.py names, extras included."""
    module = ast.parse((ROOT / "setup.py").read_text())
    assigned = [node for node in module.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    lists = [node for one in assigned for node in ast.walk(one) if isinstance(node, ast.List)]
    ranges = [text for one in lists for text in ast.literal_eval(one)]
    return {plain(re.split(r"[\[<>=;]", text)[0]) for text in ranges}


ELSEWHERE = {"sentence-transformers"}
"""For workers with a GPU: it brings PyTorch, of which each kind of machine needs its own."""


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_required_package_is_pinned() -> None:
    pinned = {plain(line.split("==")[0]) for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert {"apache-beam", "pytest"} <= required()
    assert required() - pinned == ELSEWHERE


def test_every_make_target_that_the_readme_names_exists() -> None:
    lines = re.findall(r"^    make (.+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    named = {word for line in lines for word in line.split()}
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"demo", "test"} <= named <= targets


def test_every_question_about_the_demo_names_files_that_exist() -> None:
    lines = (ROOT / "examples" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    named = {name for question in questions for name in question["expect_any_of"]}
    assert [name for name in sorted(named) if not (ROOT / "examples" / "corpus" / name).is_file()] == []
    assert len({question["id"] for question in questions}) == len(questions)
