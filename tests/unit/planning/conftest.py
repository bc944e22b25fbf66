"""Listings and documents tables in a few words."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

from transforms.planning.diff import KNOWN, LISTING
from transforms.planning.known import COLUMNS, known_of
from transforms.stages.job import Recipe
from transforms.table.schema import DOCUMENTS, REJECTED

TODAY = Recipe("x1", "c1", "e1")


def listing(*rows, size=10, checksum="", modified=None):
    return pa.Table.from_pylist(
        [
            {
                "object_name": name,
                "size": size,
                "token": token,
                "checksum": checksum,
                "modified": modified,
            }
            for name, token in rows
        ],
        schema=LISTING,
    )


def documents(*rows, recipe=TODAY, status="ok", checksum=None, size=10):
    """Rows of the documents table, with the columns that planning reads."""
    return pa.Table.from_pylist(
        [
            {
                "object_name": name,
                "object_size": size,
                "object_token": token,
                "object_checksum": checksum,
                "doc_uri": f"/c/{name}",
                "status": status,
                "extract_recipe": recipe.extract,
                "chunk_recipe": recipe.chunk,
                "embed_recipe": recipe.embed,
            }
            for name, token in rows
        ],
        schema=pa.schema([DOCUMENTS.field(name) for name in COLUMNS]),
    )


def known(*rows, today=TODAY, about="", in_place=True, **of_documents):
    shards = {}
    for name, token, shard in rows:
        shards.setdefault(shard, []).append((name, token))
    tables = [
        known_of(
            documents(*own, **of_documents), pa.chunked_array([[in_place] * len(own)]), shard, today, about
        )
        for shard, own in shards.items()
    ]
    return pa.concat_tables([KNOWN.empty_table(), *tables])


def rejected(*rows, recipe=TODAY):
    return pa.Table.from_pylist(
        [
            {
                "source_name": "s",
                "doc_id": name,
                "object_name": name,
                "doc_uri": f"/c/{name}",
                "stage": "extract",
                "reason": reason,
                "detail": "It is broken.",
                "object_size": 10,
                "object_token": token,
                "recipe": recipe.fingerprint,
            }
            for name, token, reason in rows
        ],
        schema=REJECTED,
    )


@pytest.fixture
def plan_tables():
    """Makers of the three tables that planning compares, from short rows."""
    return SimpleNamespace(listing=listing, known=known, rejected=rejected, today=TODAY)
