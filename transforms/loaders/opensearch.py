"""OpenSearch: how it declares vectors, and who may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transforms.loaders.bulk import NAMES, BulkLoader, Dialect
from transforms.loaders.protocol import Existing, Limits
from transforms.loaders.rest import Rest
from transforms.loaders.server import server_of

if TYPE_CHECKING:
    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Metric, Target

_SPACES: dict[str, Metric] = {"cosinesimil": "cosine", "innerproduct": "dot", "l2": "l2"}


def connect(address: Address) -> BulkLoader:
    """``opensearch://[USER@]HOST:9200#INDEX``, with its k-NN plugin; known to work with 2.19.

    The user's password is that of ``OPENSEARCH_PASSWORD`` or ``password_env=NAME``. A path is a prefix of all paths.
    """
    server = server_of(address, 9200, {"password_env": "OPENSEARCH_PASSWORD"}, path="prefix")
    auth = (server.user, server.secret or "") if server.user else None
    return BulkLoader(Rest(f"{server.url}/{server.path}", auth=auth), DIALECT)


def _settings(target: Target) -> dict[str, object]:
    return {} if target.index.kind == "none" else {"knn": True}


def _vector(target: Target) -> dict[str, object]:
    mapping: dict[str, object] = {"type": "knn_vector", "dimension": target.dimension}
    space = next(name for name, metric in _SPACES.items() if metric == target.metric)
    if target.index.kind == "none":
        return mapping | {"space_type": space}
    # Lucene's engine is the one that filters while it searches and needs no memory outside of the heap.
    method: dict[str, object] = {"name": "hnsw", "engine": "lucene", "space_type": space}
    if target.index.kind == "hnsw":
        method["parameters"] = {"m": target.index.m, "ef_construction": target.index.ef_construction}
    return mapping | {"method": method}


def _existing(mapping: dict[str, Any]) -> Existing:
    space = mapping.get("method", {}).get("space_type") or mapping.get("space_type", "")
    return Existing(mapping.get("dimension"), _SPACES.get(space))


DIALECT = Dialect(
    name="OpenSearch",
    limits=Limits(
        names=NAMES,
        dimensions=16_000,
        id_bytes=512,
        batch_rows=2_048,
        aliases=True,
        sparse=True,
        full_text="always",
    ),
    settings=_settings,
    vector=_vector,
    # Its `flat_object` has no limit for long values, one of which would refuse the row.
    metadata={"type": "object", "enabled": False},
    existing=_existing,
    is_vector="knn_vector",
)
