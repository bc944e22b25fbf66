"""The commands that README.md shows, so that tests run these and no others."""

from __future__ import annotations

import re
from pathlib import Path

_README = Path(__file__).parents[2] / "README.md"


def shown(beginning: str) -> list[str]:
    """The words behind the beginning of a command that is shown once, in code."""
    text = _README.read_text(encoding="utf-8")
    found = re.findall(rf"[ `]{re.escape(beginning)} ((?:[^\n`]*\\\n)*[^\n`]*)[\n`]", text)
    assert len(found) == 1, f"README.md shows {len(found)} commands that begin with {beginning!r}"
    return found[0].replace("\\\n", " ").split()
