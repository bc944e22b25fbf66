"""Mentions of a vocabulary's names: the faults of matching by substring, and what is wanted instead."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.entities import Mentions, Vocabulary
from transforms.chunkers.settings import ChunkSettings, EntitySettings
from transforms.embedders.hashed import CharCounter
from transforms.model.document import Document
from transforms.structure.blocks import parse_blocks


@pytest.mark.parametrize(
    ("text", "names", "single"),
    [
        ("Start P-101.", ["P-10", "P-101"], "P-101"),
        ("Start P-101.", ["P-10"], None),
        ("MP-101A", ["P-101"], None),
        ("P-101-A and A-P-101", ["P-101"], None),
        ("Open HV-201, (P-101).", ["P-101"], "P-101"),
        ("P-10 feeds P-101-B", ["P-10", "P-101"], "P-10"),
    ],
)
def test_Y19_a_whole_tag_is_found_and_never_a_part_of_one(
    text: str, names: list[str], single: str | None
) -> None:
    assert Vocabulary(names).mentions(text).single == single


@pytest.mark.parametrize("text", ["P‑101", "P 101", "p-101", "P–101", "P_101", "P−101"])
def test_Y20_spelling_makes_no_difference(text: str) -> None:
    assert Vocabulary(["P-101"]).mentions(f"Start {text} now.") == Mentions(("P-101",), "P-101")


def test_Y20_blank_names_are_dropped_and_doubles_refused() -> None:
    assert EntitySettings(vocabulary=("", " ", "P-1")).vocabulary == ("P-1",)
    with pytest.raises(ValidationError, match="one name"):
        EntitySettings(vocabulary=("P-101", "p 101"))


def test_Y20_all_mentions_are_kept_in_order_and_only_one_makes_a_link() -> None:
    found = Vocabulary(["P-101", "P-102", "Main Control Room"]).mentions(
        "P-102, P-101 and P-102; main control room"
    )
    assert found == Mentions(("P-102", "P-101", "Main Control Room"), None)
    assert Vocabulary(["P-101"]).mentions("P\n101") == Mentions((), None)


def test_Y05_equipment_is_looked_for_in_the_headings_too() -> None:
    text = "## P-101\n\nOpen the vent. Close it again. Wait."
    document = Document(text, parse_blocks(text, "markdown"), "text/markdown", "test/1")
    keys = {"size": {"target": 27, "max": 30}, "entities": {"vocabulary": ["P-101"]}}
    chosen = ChunkSettings.model_validate({"strategy": "sections", **keys})
    chunks = chunk_document(document, "a.md", chosen, CharCounter(), None)
    assert [chunk.text for chunk in chunks][1:] == ["Close it again. Wait."]
    assert [chunk.entity_id for chunk in chunks] == ["P-101", "P-101"]


def test_the_system_before_finds_parts_of_tags() -> None:
    document = Document("Start P-101.", (), "text/markdown", "test/1")
    chosen = ChunkSettings.model_validate({"compat": "yau", "entities": {"vocabulary": ["P-10", "P-101"]}})
    (only,) = chunk_document(document, "a.md", chosen, CharCounter(), None)
    assert (only.entity_mentions, only.entity_id) == (("P-10", "P-101"), None)
