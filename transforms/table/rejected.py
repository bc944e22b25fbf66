"""Rejections as rows of the rejected table."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import pyarrow as pa

from transforms.table.schema import REJECTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.model.shard import Rejection


def rejected_table(rejections: Sequence[Rejection]) -> pa.Table:
    """One row a rejection, in their order."""
    return pa.Table.from_pylist([_row(one) for one in rejections], schema=REJECTED)


def _row(rejection: Rejection) -> dict[str, str | int]:
    row = asdict(rejection)
    row["source_name"] = row.pop("source")
    return row
