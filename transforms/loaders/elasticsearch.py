"""Elasticsearch: how it declares vectors, and who may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transforms.loaders.bulk import NAMES, BulkLoader, Dialect
from transforms.loaders.protocol import Existing, Limits
from transforms.loaders.rest import Rest
from transforms.loaders.server import server_of

if TYPE_CHECKING:
    from transforms.loaders.address import Address
    from transforms.loaders.protocol import Metric, Target

# `dot_product` would ask for vectors of length 1.
_SIMILARITIES: dict[str, Metric] = {"cosine": "cosine", "max_inner_product": "dot", "l2_norm": "l2"}


def connect(address: Address) -> BulkLoader:
    """``elasticsearch://[USER@]HOST:9200#INDEX``, version 8.11 or newer.

    With a user the password is that of ``ELASTICSEARCH_PASSWORD`` or ``password_env=NAME``; without one the key of
    ``ELASTICSEARCH_API_KEY`` or ``api_key_env=NAME`` is sent if there is one. A path is a prefix of all paths.
    """
    named = "@" in address.rest
    secrets = (
        {"password_env": "ELASTICSEARCH_PASSWORD"} if named else {"api_key_env": "ELASTICSEARCH_API_KEY"}
    )
    server = server_of(address, 9200, secrets, path="prefix")
    headers = {"Authorization": f"ApiKey {server.secret}"} if server.secret and not server.user else None
    auth = (server.user, server.secret or "") if server.user else None
    return BulkLoader(Rest(f"{server.url}/{server.path}", headers, auth), DIALECT)


def _vector(target: Target) -> dict[str, object]:
    mapping: dict[str, object] = {"type": "dense_vector", "dims": target.dimension}
    if target.index.kind == "none":
        return mapping | {"index": False}
    similarity = next(name for name, metric in _SIMILARITIES.items() if metric == target.metric)
    mapping |= {"index": True, "similarity": similarity}
    if target.index.kind == "hnsw":
        sizes = {"m": target.index.m, "ef_construction": target.index.ef_construction}
        mapping["index_options"] = {"type": "hnsw", **sizes}
    return mapping


def _existing(mapping: dict[str, Any]) -> Existing:
    return Existing(mapping.get("dims"), _SIMILARITIES.get(mapping.get("similarity", "")))


DIALECT = Dialect(
    name="Elasticsearch",
    limits=Limits(
        names=NAMES,
        dimensions=4_096,
        id_bytes=512,
        batch_rows=2_048,
        aliases=True,
        sparse=True,
        full_text="always",
    ),
    settings=lambda target: {},  # noqa: ARG005 - there are none
    vector=_vector,
    metadata={"type": "flattened", "ignore_above": 8_191},
    existing=_existing,
    is_vector="dense_vector",
)
