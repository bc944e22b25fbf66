"""Every module opens with the sentence that says what it is about, or decides."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MODULES = sorted(
    path.relative_to(ROOT)
    for folder in ("pipeline", "transforms", "tests", "benchmarks", "docs", "deploy")
    for path in (ROOT / folder).rglob("*.py")
    if path.name != "__init__.py"
)


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_opens_with_a_sentence(module: Path) -> None:
    opening = ast.get_docstring(ast.parse((ROOT / module).read_text(encoding="utf-8")))
    assert opening, f"{module} says nothing of itself"
    assert opening.partition("\n\n")[0].endswith((".", ":", "?"))
