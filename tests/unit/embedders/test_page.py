"""The page about embedders says what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter

from transforms.embedders.presets import BEDROCK_COHERE, PRESETS, TITAN, VERTEX, VERTEX_CONTENT, Limits
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
    assert said == {name: in_figures(of) for name, of in PRESETS.items()}


def in_figures(of: Limits) -> tuple[int, ...]:
    return (of.items, of.item_tokens or 0, of.tokens or 0, of.bytes or 0, of.concurrency)


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("`vertex`, text models", VERTEX),
        ("`vertex`, newer Gemini models", VERTEX_CONTENT),
        ("`bedrock`, Titan", TITAN),
        ("`bedrock`, Cohere", BEDROCK_COHERE),
    ],
)
def test_the_table_of_limits_has_the_models_of_clouds_too(name, limits):
    row = re.search(rf"^\| {re.escape(name)} \|(.*)\|$", PAGE, re.MULTILINE)
    assert row
    assert tuple(int(cell.strip().replace(",", "") or 0) for cell in row[1].split("|")) == in_figures(
        limits
    )
