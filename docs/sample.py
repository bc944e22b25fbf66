"""Write into README.md what the demo prints: `make sample`. A test compares, but for times and scores.

Times differ from run to run, and the last digits of a score from processor to processor.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.commands import run as run_command
from pipeline.commands import search as search_command
from pipeline.config import load_config
from pipeline.run import run_job

if TYPE_CHECKING:
    from transforms.stages.outcome import Outcome

ROOT = Path(__file__).parents[1]
TABLE = "build/demo-table"
QUESTION = "How hot should the soldering iron be?"
_MARKED = re.compile(r"(<!-- begin sample -->\n```\n).*?(```\n<!-- end sample -->)", re.DOTALL)
_VARYING = re.compile(r"in [\d.]+ s;|\b\d\.\d{3}\b")


def main() -> None:
    """Run the demo in a place of its own and bring the page up to date."""
    page = ROOT / "README.md"
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        outcome = run_demo(Path(folder) / "table")
        shown = printed(outcome, time.monotonic() - start)
    page.write_text(filled(page.read_text(encoding="utf-8"), shown), encoding="utf-8")


def run_demo(table: Path) -> Outcome:
    """The job of the demo, into another table."""
    config = load_config(ROOT / "configs" / "demo.yaml")
    sources = tuple(
        source.model_copy(update={"root": str(ROOT / source.root)}) for source in config.sources
    )
    return run_job(config.model_copy(update={"table": str(table), "sources": sources}))


def printed(outcome: Outcome, seconds: float) -> str:
    """What `run` and `search` print of it to a hundred columns, with the demo's own name for the table."""
    out = io.StringIO()
    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "100"
    try:
        with contextlib.redirect_stdout(out):
            run_command.show(outcome, seconds)
            print()
            search_command.run(outcome.table, QUESTION, top=1)
    finally:
        os.environ.pop("COLUMNS")
        os.environ.update({} if columns is None else {"COLUMNS": columns})
    lines = [line.rstrip() for line in out.getvalue().replace(outcome.table, TABLE).strip().splitlines()]
    return "\n".join(lines) + "\n"


def filled(page: str, shown: str) -> str:
    """The page with this sample between its marks."""
    return _MARKED.sub(lambda match: f"{match[1]}{shown}{match[2]}", page)


def without_varying(text: str) -> str:
    """The text without what differs between runs and machines."""
    return _VARYING.sub("~", text)


if __name__ == "__main__":
    main()
