"""What an import costs: heavy libraries are loaded by the code that uses them, when it does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HEAVY = {"apache_beam", "google", "numpy", "pandas", "pyarrow", "tokenizers"}


def loaded_by(statement: str) -> set[str]:
    """The top-level packages that a statement loads in a new process."""
    program = (
        f"import json, sys\nbefore = set(sys.modules)\n{statement}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


def test_importing_the_packages_loads_nothing_heavy() -> None:
    assert loaded_by("import transforms, pipeline") & HEAVY == set()


def test_the_command_line_starts_without_anything_heavy() -> None:
    assert loaded_by("import pipeline.cli") & (HEAVY | {"pydantic", "yaml"}) == set()


@pytest.mark.parametrize(
    ("registry", "vendors"),
    [
        ("transforms.storage.registry", {"apache_beam", "azure", "google", "pandas", "boto3"}),
        ("transforms.extractors.registry", {"apache_beam", "google", "pandas", "pypdfium2", "pdfplumber"}),
        ("transforms.embedders.registry", {"apache_beam", "google", "pandas"}),
        ("pipeline.config", {"apache_beam", "google", "pandas", "pyarrow", "pypdfium2", "pdfplumber"}),
    ],
)
def test_a_registry_loads_no_vendor_library_before_it_is_asked(registry: str, vendors: set[str]) -> None:
    assert loaded_by(f"import {registry}") & vendors == set()
