from types import SimpleNamespace

import pyarrow as pa
import pytest

from transforms.planning.diff import KNOWN, LISTING
from transforms.stages.job import Recipe
from transforms.table.schema import REJECTED

TODAY = Recipe("x1", "c1", "e1")


def listing(*rows):
    return pa.Table.from_pylist(
        [{"object_name": name, "size": 10, "token": token} for name, token in rows], schema=LISTING
    )


def known(*rows, recipe=TODAY, status="ok"):
    return pa.Table.from_pylist(
        [
            {
                "object_name": name,
                "object_token": token,
                "status": status,
                "extract_recipe": recipe.extract,
                "chunk_recipe": recipe.chunk,
                "embed_recipe": recipe.embed,
                "shard": shard,
            }
            for name, token, shard in rows
        ],
        schema=KNOWN,
    )


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
