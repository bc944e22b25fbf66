"""The facts that must hold of a folder of hard files, by the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("PARQUETRY_HARD_FILES", ROOT.parent / "shared" / "files"))
CHECK = SHARED / "check_facts.py"


@pytest.mark.skipif("CI" in os.environ, reason="CI holds the facts in a step of its own: make facts")
@pytest.mark.skipif(not CHECK.is_file(), reason="needs the folder of hard files: PARQUETRY_HARD_FILES")
def test_all_facts_that_must_hold_of_the_hard_files_hold() -> None:
    command = [sys.executable, "-m", "pipeline.cli", "extract"]
    check = [
        sys.executable,
        str(CHECK),
        "--manifest",
        str(SHARED / "manifest.jsonl"),
        "--root",
        str(SHARED),
    ]
    done = subprocess.run(
        [*check, "--", *command], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]
