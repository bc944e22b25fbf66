"""Every recorded fault of the systems before has a test named by its id, or a line in a decision that says why not."""

import os
import re
from pathlib import Path

import pytest

REPO = Path(__file__).parents[3]
FAULTS = Path(os.environ.get("PARQUETRY_DEFECTS") or REPO.parent / "shared" / "seeds" / "DEFECTS.md")
ID = r"[RGYMX]\d\d"


def with_a_test() -> set[str]:
    names = [
        name
        for file in (REPO / "tests").rglob("test_*.py")
        for name in re.findall(rf"def test_((?:{ID}_)+)", file.read_text(encoding="utf-8"))
    ]
    return {fault for name in names for fault in name.rstrip("_").split("_")}


def decided() -> set[str]:
    rows = [
        line.split("|")[1]
        for file in (REPO / "docs" / "decisions").glob("*.md")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    return {fault for row in rows for fault in re.findall(ID, row)}


def test_every_recorded_fault_has_a_test_or_a_decision() -> None:
    if not FAULTS.exists():
        pytest.skip(f"no list of faults at {FAULTS}: set PARQUETRY_DEFECTS")
    recorded = set(re.findall(rf"^\*\*({ID})\*\*", FAULTS.read_text(encoding="utf-8"), re.MULTILINE))
    assert len(recorded) == 116
    assert recorded - with_a_test() - decided() == set()
    assert recorded - with_a_test() == set(), "a test goes before a decision"
