"""The page about embedders says what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter

from transforms.embedders.presets import PRESETS
from transforms.embedders.settings import EmbedderSettings

PAGE = (Path(__file__).parents[3] / "docs" / "embedders.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", EXAMPLES)
def test_each_example_is_a_valid_configuration(text):
    TypeAdapter(EmbedderSettings).validate_python(yaml.safe_load(text)["embedder"])


def test_the_table_of_limits_is_that_of_the_presets():
    rows = re.findall(r"^\| (`[^|]+`) \|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|$", PAGE, re.MULTILINE)
    said = {
        name: tuple(int(cell.strip().replace(",", "") or 0) for cell in cells)
        for names, *cells in rows
        for name in re.findall("`([a-z]+)`", names)
    }
    assert said == {
        name: (of.items, of.item_tokens or 0, of.tokens or 0, of.bytes or 0, of.concurrency)
        for name, of in PRESETS.items()
    }
