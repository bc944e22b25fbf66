"""Loaders against the bare fast path of each store, in turns, in one run: rows a second, CPU, and their ratio.

    python benchmarks/loading.py [--rows 50000] [--dimension 384] [--times 3] [--terms 0] [--stores duckdb lancedb ...]

The bare path is the shortest program that is fast: a few lines of the store's own client over the same Parquet files
and columns, without sync state, filter or checks; some stores have none here. Each measurement is a process of its
own; what is timed begins when libraries are loaded. CPU seconds are those of that process, and for PostgreSQL,
Redis and OpenSearch those of the server too. The ratio is that of the medians; wall times are those of a machine that
may have had other work. With ``--terms`` each chunk has a sparse vector of so many terms: the bare paths of DuckDB and
PostgreSQL write it too, that of LanceDB indexes the texts by words in its place, and the others leave it out.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from transforms.loaders.mapping import DEFAULT, SPARSE_COLUMNS  # noqa: E402 - the folder is no installed package
from transforms.storage.local import LocalStore  # noqa: E402
from transforms.table.layout import shard_path  # noqa: E402
from transforms.table.manifest import COUNTS, Manifest, SourceEntry, to_json  # noqa: E402
from transforms.table.pointer import move_pointer  # noqa: E402
from transforms.table.reader import Snapshot  # noqa: E402
from transforms.table.schema import CHUNKS, SCHEMA_VERSION  # noqa: E402
from transforms.table.writer import write_table  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHARD = 5_000
WORDS = [
    "the",
    "pump",
    "of",
    "a",
    "valve",
    "turns",
    "when",
    "water",
    "comes",
    "through",
    "and",
    "stops",
    "again",
]
BARE, LOADER = "bare", "loader"
PLACES = 1_000_000_000
"""Of pgvector's sparse vectors."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one load took."""

    wall_seconds: float
    cpu_seconds: float


def write_table_of(folder: Path, count: int, dimension: int, terms: int = 0) -> None:
    """A published table with one snapshot of made-up chunks of some 700 characters, with sparse vectors or without."""
    store = LocalStore(str(folder))
    chance = np.random.default_rng(1)
    files = [
        write_table(
            store, shard_path(1, "chunks", "docs", f"{at:016x}"),
            _shard(at, min(SHARD, count - at), dimension, terms, chance), "docs", {},
        )
        for at in range(0, count, SHARD)
    ]  # fmt: skip
    counts = dict.fromkeys(COUNTS, 0) | {"chunks": count}
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    sources = {"docs": SourceEntry("docs", counts)}
    manifest = Manifest(
        SCHEMA_VERSION, 1, None, now, "benchmark", "run", {}, tuple(files), sources, counts,
        sparse="made-up@1" if terms else None,
    )  # fmt: skip
    store.write("snapshots/000001/manifest.json", to_json(manifest))
    move_pointer(store, 1, None)


def _shard(first: int, count: int, dimension: int, terms: int, chance: np.random.Generator) -> pa.Table:
    vectors = chance.standard_normal((count, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [" ".join(words) for words in chance.choice(WORDS, (count, 140))]
    numbers = range(first, first + count)
    given = {
        "chunk_id": [f"{n:08x}-0000-8000-8000-{n:012x}" for n in numbers],
        "source_name": ["docs"] * count,
        "doc_id": [f"folder/page-{n // 10:06}.md" for n in numbers],
        "doc_uri": [f"/corpus/folder/page-{n // 10:06}.md" for n in numbers],
        "doc_title": [f"Page {n // 10}" for n in numbers],
        "chunk_index": [n % 10 for n in numbers],
        "text": texts,
        "section_title": [f"Part {n % 10}" for n in numbers],
        "section_path": [["Page", f"Part {n % 10}"] for n in numbers],
        "metadata": ['{"kind": "made up"}'] * count,
        "embedding": pa.ListArray.from_arrays(
            pa.array(np.arange(count + 1, dtype=np.int32) * dimension), pa.array(vectors.ravel())
        ).cast(CHUNKS.field("embedding").type),
        "embed_model": ["made-up@1"] * count,
        "embed_dim": [dimension] * count,
        "changed_in": [1] * count,
    } | (_sparse(count, terms, chance) if terms else {})
    return pa.table([given.get(field.name, _plain(field, count)) for field in CHUNKS], schema=CHUNKS)


def _sparse(count: int, terms: int, chance: np.random.Generator) -> dict[str, pa.Array]:
    # One term of each of as many parts of the 32 bits ascend by themselves.
    parts = np.arange(terms) * (2**32 // terms)
    ids = (parts + chance.integers(0, 2**32 // terms, (count, terms))).astype(np.uint32)
    values = chance.uniform(0.5, 2, (count, terms)).astype(np.float32)
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * terms)
    return {
        name: pa.ListArray.from_arrays(offsets, pa.array(flat.ravel())).cast(CHUNKS.field(name).type)
        for name, flat in zip(SPARSE_COLUMNS, (ids, values), strict=True)
    }


def _has_sparse(table: Path) -> bool:
    return Snapshot.newest(LocalStore(str(table))).manifest.sparse is not None


def _plain(field: pa.Field, count: int) -> pa.Array | list[object]:
    if field.nullable:
        return pa.nulls(count, field.type)
    return [[] if pa.types.is_list(field.type) else "" if pa.types.is_string(field.type) else 0] * count


def bare_duckdb(table: Path, to: str, dimension: int) -> None:
    import duckdb

    names = [*DEFAULT, *SPARSE_COLUMNS] if _has_sparse(table) else DEFAULT
    columns = ", ".join(name for name in names if name != "embedding")
    db = duckdb.connect(to.removeprefix("duckdb:"))
    db.execute(
        f"CREATE TABLE chunks AS SELECT {columns}, embedding::FLOAT[{dimension}] AS embedding "
        f"FROM read_parquet('{table}/snapshots/000001/chunks/**/*.parquet')"
    )
    db.close()


def bare_lancedb(table: Path, to: str, dimension: int) -> None:
    import lancedb
    from lancedb.index import FTS

    rows = ds.dataset(table / "snapshots/000001/chunks", partitioning="hive").scanner(columns=list(DEFAULT))
    kind = pa.list_(pa.float32(), dimension)
    schema = pa.schema([f.with_type(kind) if f.name == "embedding" else f for f in rows.projected_schema])
    reader = pa.RecordBatchReader.from_batches(
        schema, (batch.cast(schema) for batch in rows.to_reader() if batch.num_rows)
    )
    made = lancedb.connect(to.removeprefix("lancedb:")).create_table("chunks", reader)
    if _has_sparse(table):
        made.create_index("text", config=FTS(stem=False, remove_stop_words=False))


def bare_postgres(table: Path, to: str, dimension: int) -> None:
    import psycopg
    from psycopg.adapt import Dumper
    from psycopg.pq import Format

    class VectorDumper(Dumper):
        """As that of the package pgvector."""

        format = Format.BINARY

        def dump(self, obj: object) -> bytes:
            return struct.pack(">hh", dimension, 0) + np.asarray(obj, ">f4").tobytes()

    class SparseDumper(Dumper):
        """As that of the package pgvector: places and values of a row, both arrays."""

        format = Format.BINARY

        def dump(self, obj: tuple[np.ndarray, np.ndarray]) -> bytes:
            places, values = obj
            head = struct.pack(">iii", PLACES, len(places), 0)
            return head + places.astype(">i4").tobytes() + values.astype(">f4").tobytes()

    has_sparse = _has_sparse(table)
    sparse = [("sparse", f"sparsevec({PLACES})", "sparsevec")] if has_sparse else []
    columns = [name for name in DEFAULT if name != "embedding"]
    others = {"chunk_index": "int4", "page_start": "int4", "section_path": "text[]"}
    types = {name: others.get(name, "text") for name in columns}
    with psycopg.connect(to) as db:
        db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        db.execute(
            f"CREATE TABLE chunks ({', '.join(f'{name} {kind}' for name, kind in types.items())}, "
            f"embedding vector({dimension}){''.join(f', {name} {kind}' for name, kind, _ in sparse)})"
        )
        for kind, of, dumper in (("vector", np.ndarray, VectorDumper), ("sparsevec", tuple, SparseDumper)):
            info = psycopg.types.TypeInfo.fetch(db, kind)
            info.register(db)
            dumper.oid = info.oid
            db.adapters.register_dumper(of, dumper)
        rows = ds.dataset(table / "snapshots/000001/chunks", partitioning="hive").scanner(
            columns=[*DEFAULT, *(SPARSE_COLUMNS if has_sparse else ())]
        )
        names = [*columns, "embedding", *(name for name, _, _ in sparse)]
        with db.cursor().copy(f"COPY chunks ({', '.join(names)}) FROM STDIN (FORMAT binary)") as copy:
            copy.set_types([*types.values(), "vector", *(kind for _, _, kind in sparse)])
            for batch in rows.to_batches():
                vectors = batch["embedding"].flatten().to_numpy().reshape(-1, dimension)
                values = [batch[name].to_pylist() for name in columns]
                vectors_of_terms = [_folded(batch)] if has_sparse else []
                for row in zip(*values, vectors, *vectors_of_terms, strict=True):
                    copy.write_row(row)
        db.execute("ALTER TABLE chunks ADD PRIMARY KEY (chunk_id)")


def _folded(batch: pa.RecordBatch) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each row's places and values; terms of made-up rows do not meet, or one of them is lost."""
    rows = []
    for ids, values in zip(*(batch[name] for name in SPARSE_COLUMNS), strict=True):
        places, order = np.unique(ids.values.to_numpy() % PLACES, return_index=True)
        rows.append((places, values.values.to_numpy()[order]))
    return rows


def bare_redis(table: Path, to: str, dimension: int) -> None:
    import redis

    db = redis.Redis.from_url(to)
    words = [name for name in DEFAULT if name not in {"chunk_id", "embedding", "text", "metadata"}]
    schema = [part for name in words for part in (name, "NUMERIC" if name in NUMBERS else "TAG")]
    vector = (
        "embedding",
        "VECTOR",
        "HNSW",
        6,
        "TYPE",
        "FLOAT32",
        "DIM",
        dimension,
        "DISTANCE_METRIC",
        "COSINE",
    )
    db.execute_command("FT.CREATE", "chunks", "PREFIX", 1, "chunks:", "SCHEMA", *vector, *schema)
    for batch in _batches(table, 256):
        pipe = db.pipeline(transaction=False)
        for row in batch.to_pylist():
            vector = np.float32(row.pop("embedding")).tobytes()
            facts = {
                name: "|".join(value) if isinstance(value, list) else value for name, value in row.items()
            }
            pipe.hset(f"chunks:{facts.pop('chunk_id')}", mapping={"embedding": vector, **_filled(facts)})
        pipe.execute()
    db.close()


def bare_chroma(table: Path, to: str, _dimension: int) -> None:
    import chromadb

    client = chromadb.PersistentClient(to.removeprefix("chroma:"))
    chunks = client.create_collection(
        "chunks", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    for batch in _batches(table, 1_000):
        vectors = batch["embedding"].flatten().to_numpy().reshape(batch.num_rows, -1)
        rows = batch.drop_columns(["embedding", "chunk_id", "text"]).to_pylist()
        chunks.add(
            batch["chunk_id"].to_pylist(),
            vectors,
            [_filled(row) for row in rows],
            batch["text"].to_pylist(),
        )
    client.close()


def bare_milvus(table: Path, to: str, dimension: int) -> None:
    from pymilvus import DataType, MilvusClient

    client = MilvusClient(to.removeprefix("milvus:"))
    schema = MilvusClient.create_schema(auto_id=False)
    schema.add_field("chunk_id", DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("embedding", DataType.FLOAT_VECTOR, dim=dimension)
    for name in DEFAULT:
        if name in NUMBERS:
            schema.add_field(name, DataType.INT32, nullable=True)
        elif name == "section_path":
            kinds = {"element_type": DataType.VARCHAR, "max_capacity": 100, "max_length": 1_000}
            schema.add_field(name, DataType.ARRAY, nullable=True, **kinds)
        elif name not in {"chunk_id", "embedding"}:
            schema.add_field(name, DataType.VARCHAR, max_length=65_535, nullable=True)
    index = MilvusClient.prepare_index_params()
    index.add_index("embedding", index_type="AUTOINDEX", metric_type="COSINE")
    client.create_collection("chunks", schema=schema, index_params=index)
    for batch in _batches(table, 1_000):
        client.insert("chunks", batch.to_pylist())
    client.flush("chunks")
    client.close()


NUMBERS = {"chunk_index", "page_start"}


def _batches(table: Path, rows: int) -> Iterator[pa.RecordBatch]:
    folder = ds.dataset(table / "snapshots/000001/chunks", partitioning="hive")
    scanner = folder.scanner(columns=list(DEFAULT), batch_size=rows)
    return (batch for batch in scanner.to_batches() if batch.num_rows)


def _filled(facts: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in facts.items() if value is not None and value != []}


def by_loader(table: Path, to: str, _dimension: int) -> None:
    from transforms.loaders.load import load
    from transforms.loaders.settings import LoadSettings

    load(LocalStore(str(table)), LoadSettings(to=to))


BARE_PATHS: dict[str, Callable[[Path, str, int], None]] = {
    "chroma": bare_chroma,
    "duckdb": bare_duckdb,
    "lancedb": bare_lancedb,
    "milvus": bare_milvus,
    "postgres": bare_postgres,
    "redis": bare_redis,
}
STORES = sorted([*BARE_PATHS, "chdb", "faiss", "opensearch", "sqlite", "usearch"])
LIBRARIES = {
    "chroma": "chromadb",
    "milvus": "pymilvus",
    "opensearch": "httpx",
    "postgres": "psycopg",
    "sqlite": "sqlite_vec",
}
"""Those that are not called as their loader is."""
SUFFIXES = {"milvus": ".db"}


def measured(way: str, store: str, table: Path, to: str, dimension: int) -> Usage:
    """One load in a process of its own."""
    command = [sys.executable, __file__, "--one", way, store, str(table), to, str(dimension)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if said.returncode:
        raise SystemExit(said.stderr)
    return Usage(**json.loads(said.stdout.splitlines()[-1]))


def one(way: str, store: str, table: str, to: str, dimension: str) -> None:
    """What the process of a measurement does."""
    import importlib

    importlib.import_module(LIBRARIES.get(store, store))
    for module in ("load", "settings", store):
        importlib.import_module(f"transforms.loaders.{module}")
    if way == LOADER:
        # As the command does.
        importlib.import_module("pipeline.lean").look_for_no_pandas()
    work = by_loader if way == LOADER else BARE_PATHS[store]
    wall, cpu = time.monotonic(), time.process_time()
    work(Path(table), to, int(dimension))
    print(json.dumps({"wall_seconds": time.monotonic() - wall, "cpu_seconds": time.process_time() - cpu}))


@contextmanager
def places(store: str, folder: Path) -> Iterator[tuple[Callable[[str], str], Callable[[], float]]]:
    """What gives an address for a name, and what tells the CPU seconds of a server."""
    if store in SERVERS:
        with SERVERS[store]() as found:
            yield found
        return
    if store != "postgres":
        yield lambda name: f"{store}:{folder}/{name}{SUFFIXES.get(store, '')}", lambda: 0.0
        return
    import psycopg

    from tests.stores.adapters.postgres import server

    with server() as uri:

        def new(name: str) -> str:
            with psycopg.connect(uri("postgres"), autocommit=True) as db:
                db.execute(f'CREATE DATABASE "{name}"')
            return uri(name)

        with psycopg.connect(uri("postgres")) as db:
            folder_of_data = Path(db.execute("SHOW data_directory").fetchone()[0])
        postmaster = int((folder_of_data / "postmaster.pid").read_text().split()[0])
        yield new, lambda: _cpu_with_children(postmaster)


@contextmanager
def _redis() -> Iterator[tuple[Callable[[str], str], Callable[[], float]]]:
    import redis

    from tests.stores.servers.redis import redis_server

    with redis_server() as port, redis.Redis(port=port) as db:

        def new(_name: str) -> str:
            db.flushall()
            return f"redis://127.0.0.1:{port}"

        def spent() -> float:
            facts = db.info("cpu")
            return float(facts["used_cpu_user"] + facts["used_cpu_sys"])

        yield new, spent


@contextmanager
def _opensearch() -> Iterator[tuple[Callable[[str], str], Callable[[], float]]]:
    import httpx

    from tests.stores.servers.opensearch import opensearch_server

    with opensearch_server() as url, httpx.Client(base_url=url, timeout=120) as http:

        def new(_name: str) -> str:
            http.delete("/*").raise_for_status()
            return url.replace("http:", "opensearch:")

        def spent() -> float:
            nodes = http.get("/_nodes/stats/process").raise_for_status().json()["nodes"]
            return sum(node["process"]["cpu"]["total_in_millis"] for node in nodes.values()) / 1000

        yield new, spent


SERVERS = {"opensearch": _opensearch, "redis": _redis}


def _cpu_with_children(pid: int) -> float:
    """Of a process and all of its children that have ended: those that served connections."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--terms", type=int, default=0)
    parser.add_argument("--stores", nargs="+", choices=STORES, default=STORES)
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        one(*args.one)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table_of(folder / "table", args.rows, args.dimension, args.terms)
        print(
            "| store | rows/s bare | rows/s loader | wall ratio | CPU s bare | CPU s loader | CPU ratio |"
        )
        print("|---|---|---|---|---|---|---|")
        for store in args.stores:
            print(_line(store, folder, args), flush=True)


def _line(store: str, folder: Path, args: argparse.Namespace) -> str:
    wall, cpu = defaultdict(list), defaultdict(list)
    ways = [LOADER, BARE] if store in BARE_PATHS else [LOADER]
    with places(store, folder) as (new, of_server):
        for turn in range(args.times):
            for way in ways if turn % 2 else reversed(ways):
                before = of_server()
                usage = measured(way, store, folder / "table", new(f"{way}{turn}"), args.dimension)
                wall[way].append(usage.wall_seconds)
                cpu[way].append(usage.cpu_seconds + of_server() - before)
                for path in folder.glob(f"{way}*"):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
    seconds = {way: statistics.median(wall[way]) for way in ways}
    cost = {way: statistics.median(cpu[way]) for way in ways}
    speeds = {way: f"{args.rows / seconds[way]:,.0f}" for way in ways}
    costs = {way: f"{cost[way]:.1f}" for way in ways}
    ratios = [f"{one[LOADER] / one[BARE]:.2f}" if BARE in one else "" for one in (seconds, cost)]
    cells = [
        store,
        speeds.get(BARE, ""),
        speeds[LOADER],
        ratios[0],
        costs.get(BARE, ""),
        costs[LOADER],
        ratios[1],
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
