"""Qdrant's HTTP interface over its own engine, which the package qdrant-edge-py brings: what the tests need of it.

The engine decides which ids and vectors are taken, what a filter meets and what is near. Bodies of requests are
validated by the models of the official client, and the tests read with that client.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pydantic
import qdrant_edge as edge
from qdrant_client.http import models

from tests.stores.servers.web import RefusalError, routed, serving

_DISTANCES = {"Cosine": edge.Distance.Cosine, "Dot": edge.Distance.Dot, "Euclid": edge.Distance.Euclid}
_LIMIT = 32 * 2**20


class QdrantServer:
    """Collections below one folder; ``key`` is asked for if there is one."""

    def __init__(self, folder):
        self.folder = folder
        self.key = None
        self.collections = {}
        self.aliases = {}
        self.schemas = {}
        self.requests = []
        self._made = 0
        self._lock = threading.Lock()
        one = "/collections/([^/]+)"
        self._routes = [
            ("GET", "/", lambda request: {"title": "qdrant", "version": "1.20.0"}),
            ("GET", "/aliases", self._get_aliases),
            ("POST", "/collections/aliases", self._change_aliases),
            ("PUT", one, self._create),
            ("GET", one, self._describe),
            ("PATCH", one, self._change),
            ("DELETE", one, self._delete),
            ("PUT", f"{one}/index", self._create_index),
            ("PUT", f"{one}/points", self._upsert),
            ("POST", f"{one}/points", self._retrieve),
            ("POST", f"{one}/points/delete", self._delete_points),
            ("POST", f"{one}/points/count", self._count),
            ("POST", f"{one}/points/scroll", self._scroll),
            ("POST", f"{one}/points/query", self._query),
        ]

    def wipe(self):
        with self._lock:
            for shard, _ in self.collections.values():
                shard.close()
            self.collections, self.aliases, self.schemas, self.key = {}, {}, {}, None
            self.requests.clear()

    def __call__(self, request):
        self.requests.append(request)
        if self.key is not None and request.headers.get("api-key") != self.key:
            raise RefusalError(
                401, {"status": {"error": f"no right with {request.headers.get('api-key')}"}}
            )
        if len(request.body) > _LIMIT:
            raise RefusalError(413, {"status": {"error": "Payload error: larger than allowed"}})
        with self._lock:
            found = routed(self._routes, request)
        return found if request.path == "/" else {"result": found, "status": "ok", "time": 0.0}

    def _shard(self, name):
        name = self.aliases.get(name, name)
        if name not in self.collections:
            raise RefusalError(404, {"status": {"error": f"Not found: Collection `{name}` doesn't exist!"}})
        return self.collections[name][0]

    def _create(self, request, name):
        wanted = _valid(models.CreateCollection, request)
        if name in self.collections or name in self.aliases:
            raise RefusalError(
                409, {"status": {"error": f"Wrong input: Collection `{name}` already exists!"}}
            )
        params = models.VectorParams.model_validate(wanted.vectors)
        config = edge.EdgeConfig(
            vectors=edge.EdgeVectorParams(size=params.size, distance=_DISTANCES[params.distance]),
            sparse_vectors={
                name: edge.EdgeSparseVectorParams(
                    modifier=edge.Modifier.Idf if one.modifier == models.Modifier.IDF else None
                )
                for name, one in (wanted.sparse_vectors or {}).items()
            },
        )
        self._made += 1
        shard = edge.EdgeShard.create(str(self.folder / str(self._made)), config)
        self.collections[name] = (shard, wanted)
        return True

    def _describe(self, request, name):
        shard = self._shard(name)
        wanted = self.collections[self.aliases.get(name, name)][1]
        return {
            "status": "green",
            "optimizer_status": "ok",
            "points_count": shard.info().points_count,
            "indexed_vectors_count": 0,
            "segments_count": shard.info().segments_count,
            "payload_schema": {},
            "config": {
                "params": {
                    "vectors": request_json(wanted.vectors),
                    "sparse_vectors": {
                        key: request_json(one) for key, one in (wanted.sparse_vectors or {}).items()
                    },
                },
                "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
                "optimizer_config": {
                    "deleted_threshold": 0.2,
                    "vacuum_min_vector_number": 1000,
                    "default_segment_number": 0,
                    "flush_interval_sec": 5,
                },
            },
        }

    def _change(self, request, name):
        """Only what is there already is taken: the engine has no change of a modifier."""
        wanted = _valid(models.UpdateCollection, request)
        self._shard(name)
        assert wanted.sparse_vectors == self.collections[name][1].sparse_vectors
        return True

    def _delete(self, request, name):
        self._shard(name).close()
        del self.collections[name]
        self.aliases = {alias: target for alias, target in self.aliases.items() if target != name}
        return True

    def _create_index(self, request, name):
        wanted = _valid(models.CreateFieldIndex, request)
        schema = getattr(edge.PayloadSchemaType, wanted.field_schema.capitalize())
        self._shard(name).update(edge.UpdateOperation.create_field_index(wanted.field_name, schema))
        self.schemas.setdefault(name, {})[wanted.field_name] = wanted.field_schema
        return _DONE

    def _upsert(self, request, name):
        shard = self._shard(name)
        _valid(models.PointInsertOperations, request)
        body = request.json
        if "batch" in body:
            batch = body["batch"]
            payloads = batch.get("payloads") or [None] * len(batch["ids"])
            rows = zip(batch["ids"], _rows_of(batch["vectors"]), payloads, strict=True)
        else:
            rows = [
                (point["id"], _vectors(point["vector"]), point.get("payload")) for point in body["points"]
            ]
        self._update(shard, lambda: edge.UpdateOperation.upsert_points([edge.Point(*row) for row in rows]))
        return _DONE

    def _delete_points(self, request, name):
        wanted = _valid(models.PointIdsList, request)
        shard = self._shard(name)
        self._update(shard, lambda: edge.UpdateOperation.delete_points(wanted.points))
        return _DONE

    def _retrieve(self, request, name):
        wanted = _valid(models.PointRequest, request)
        found = self._shard(name).retrieve(
            wanted.ids, with_payload=bool(wanted.with_payload), with_vector=bool(wanted.with_vector)
        )
        return [_record(one) for one in found]

    def _count(self, request, name):
        _valid(models.CountRequest, request)
        return {"count": self._shard(name).count(edge.CountRequest(exact=True))}

    def _scroll(self, request, name):
        wanted = _valid(models.ScrollRequest, request)
        page, offset = self._shard(name).scroll(
            edge.ScrollRequest(
                offset=wanted.offset,
                limit=min(wanted.limit, 50),
                with_payload=bool(wanted.with_payload),
                with_vector=bool(wanted.with_vector),
            )
        )
        return {
            "points": [_record(one) for one in page],
            "next_page_offset": None if offset is None else str(offset),
        }

    def _query(self, request, name):
        wanted = _valid(models.QueryRequest, request)
        found = self._shard(name).query(
            edge.QueryRequest(
                limit=wanted.limit,
                query=_query(wanted),
                prefetches=[_prefetch(one) for one in wanted.prefetch or []],
                filter=_filter(wanted),
                with_payload=bool(wanted.with_payload),
            )
        )
        points = [{**_record(one), "version": one.version, "score": one.score} for one in found]
        return {"points": points}

    def _get_aliases(self, request):
        pairs = [{"alias_name": alias, "collection_name": target} for alias, target in self.aliases.items()]
        return {"aliases": pairs}

    def _change_aliases(self, request):
        _valid(models.ChangeAliasesOperation, request)
        changed = dict(self.aliases)
        for action in request.json["actions"]:
            (kind, wanted), *_ = action.items()
            if kind == "delete_alias":
                del changed[wanted["alias_name"]]
            else:
                self._shard(wanted["collection_name"])
                if wanted["alias_name"] in {*changed, *self.collections}:
                    raise RefusalError(
                        409, {"status": {"error": "Alias or collection of that name exists!"}}
                    )
                changed[wanted["alias_name"]] = wanted["collection_name"]
        self.aliases = changed
        return True

    @staticmethod
    def _update(shard, operation):
        try:
            shard.update(operation())
        except (ValueError, Exception) as error:
            raise RefusalError(400, {"status": {"error": f"Wrong input: {error}"}}) from error


_DONE = {"operation_id": 1, "status": "completed"}


def request_json(model):
    return model.model_dump(mode="json", exclude_none=True)


def _valid(kind, request):
    try:
        return pydantic.TypeAdapter(kind).validate_json(request.body)
    except pydantic.ValidationError as error:
        raise RefusalError(
            400, {"status": {"error": f"Format error in JSON body: {error}"[:300]}}
        ) from error


def _record(one):
    found = {"id": str(one.id), "payload": one.payload}
    if one.vector:
        found["vector"] = {name: _plain(vector) for name, vector in one.vector.items()}
    return found


def _plain(vector):
    if isinstance(vector, edge.SparseVector):
        return {"indices": vector.indices, "values": vector.values}
    return vector


def _rows_of(vectors):
    """The vectors of each point, whether they have names or not."""
    if isinstance(vectors, list):
        return vectors
    rows = zip(*vectors.values(), strict=True)
    return [dict(zip(vectors, map(_vector, row), strict=True)) for row in rows]


def _vectors(vectors):
    """Those of one point, or the only one."""
    return {name: _vector(one) for name, one in vectors.items()} if isinstance(vectors, dict) else vectors


def _vector(vector):
    return edge.SparseVector(vector["indices"], vector["values"]) if isinstance(vector, dict) else vector


def _query(wanted):
    if isinstance(wanted.query, models.FusionQuery):
        return edge.Fusion.Rrf(k=2) if wanted.query.fusion == models.Fusion.RRF else edge.Fusion.Dbsf()
    nearest = getattr(wanted.query, "nearest", wanted.query)
    if isinstance(nearest, models.SparseVector):
        nearest = edge.SparseVector(nearest.indices, nearest.values)
    return edge.Query.Nearest(nearest, using=wanted.using)


def _prefetch(wanted):
    return edge.Prefetch(limit=wanted.limit, query=_query(wanted), filter=_filter(wanted))


def _filter(wanted):
    must = wanted.filter.must if wanted.filter else []
    conditions = [
        edge.FieldCondition(one.key, match=edge.MatchValue(one.match.value)) for one in must or []
    ]
    return edge.Filter(must=conditions) if conditions else None


@contextmanager
def qdrant_server():
    """The server, with its ``url``, for as long as the block lasts."""
    folder = Path(tempfile.mkdtemp(prefix="parquetry-qdrant-"))
    server = QdrantServer(folder)
    try:
        with serving(server) as url:
            server.url = url
            yield server
    finally:
        server.wipe()
        shutil.rmtree(folder, ignore_errors=True)
