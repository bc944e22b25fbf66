"""The configurations in configs/ are examples that people copy: each must load."""

from pathlib import Path

import pytest

from pipeline.config import load_config
from transforms.chunkers.chunk import chunk_document
from transforms.chunkers.registry import STRATEGIES
from transforms.embedders.hashed import CharCounter, HashEmbedder
from transforms.model.document import Document
from transforms.model.errors import ConfigError
from transforms.structure.blocks import parse_blocks

ROOT = Path(__file__).parents[3]
# An evaluation is no job; tests of its own load it.
CONFIGS = sorted(path for path in (ROOT / "configs").rglob("*.yaml") if path.stem != "evaluate")
ENV = {"CORPUS_BUCKET": "example-corpus", "TABLE_BUCKET": "example-tables"}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_config_loads(path: Path) -> None:
    assert load_config(path, env=ENV).sources


def test_the_demo_reads_the_three_sources_of_the_bundled_corpus() -> None:
    job = load_config(ROOT / "configs" / "demo.yaml", env={})
    assert {source.name: source.root for source in job.sources} == {
        "support": "examples/corpus/support",
        "manuals": "examples/corpus/manuals",
        "workshop": "examples/corpus/workshop",
    }
    assert all((ROOT / source.root).is_dir() for source in job.sources)


def test_the_nightly_run_takes_its_buckets_from_the_environment() -> None:
    job = load_config(ROOT / "configs" / "nightly.yaml", env=ENV)
    assert job.table == "gs://example-tables/handbook"
    assert [source.root for source in job.sources] == [
        "gs://example-corpus/docs",
        "gs://example-corpus/manuals",
        "gs://example-corpus/notes",
    ]


def test_a_source_of_the_nightly_run_has_its_own_sizes() -> None:
    job = load_config(ROOT / "configs" / "nightly.yaml", env=ENV)
    assert [(source.size.target, source.size.max) for source in job.sources] == [
        (1200, 1500),
        (1200, 1500),
        (800, 1000),
    ]


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(ConfigError, match="TABLE_BUCKET is not set"):
        load_config(ROOT / "configs" / "nightly.yaml", env={"CORPUS_BUCKET": "example-corpus"})


@pytest.mark.parametrize("name", [*STRATEGIES, "compat"])
def test_each_strategy_has_an_example_that_cuts(name: str) -> None:
    (source,) = load_config(ROOT / "configs" / "chunking" / f"{name}.yaml", env={}).sources
    assert (ROOT / source.root).is_dir()
    chosen = source.chunk_settings()
    assert name in (chosen.strategy, "compat")
    text = "# Valve\n\nOpen it. Close it.\n\n| Part | Note |\n|---|---|\n| Valve | wet |"
    document = Document(text, parse_blocks(text, "markdown"), "text/markdown", "markdown/1")
    chunks = chunk_document(document, "a.md", chosen, CharCounter(), None, HashEmbedder(8).embed)
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(text.split())
