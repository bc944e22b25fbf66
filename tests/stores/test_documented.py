"""Queries that the documents show are those that tests ask."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/hybrid.md"
ADAPTERS = {
    "DuckDB": "duckdb",
    "PostgreSQL": "postgres",
    "ClickHouse": "chdb",
    "SQLite": "sqlite",
    "LanceDB": "lancedb",
    "FAISS and USearch": "faiss",
    "Chroma": "chroma",
    "Qdrant": "qdrant",
    "Milvus": "milvus",
    "Redis": "redis",
    "Elasticsearch and OpenSearch": "opensearch",
}


def blocks(store):
    """The fenced blocks under a store's heading."""
    (section,) = re.findall(
        rf"^### {store}\n(.*?)(?=^##|\Z)", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    return re.findall(r"^```\w+\n(.*?)^```", section, re.DOTALL | re.MULTILINE)


def lines(text):
    """Without what stands before them."""
    return "\n".join(line.strip() for line in text.strip().splitlines())


@pytest.mark.parametrize("store", ADAPTERS)
def test_each_query_of_the_page_is_asked_as_it_stands(store):
    pytest.importorskip(f"tests.stores.adapters.{ADAPTERS[store]}", exc_type=ImportError)
    source = lines(inspect.getsource(import_module(f"tests.stores.adapters.{ADAPTERS[store]}")))
    found = blocks(store)
    assert found
    for block in found:
        assert lines(block) in source
