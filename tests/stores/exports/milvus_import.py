"""Load exports into a real Milvus server by its bulk import: ``python -m ...milvus_import OUT FOLDER...``.

The first folder's ``collection.json`` makes the collection; of each folder the deletes are done and the files imported,
in this order. What is there at the end is written to OUT, id to record. The server ends with the program.
"""

import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from milvus import MilvusServer
from pymilvus import Collection, CollectionSchema, DataType, FieldSchema, connections, utility

KINDS = {
    "VarChar": DataType.VARCHAR,
    "FloatVector": DataType.FLOAT_VECTOR,
    "Int32": DataType.INT32,
    "Int64": DataType.INT64,
}
PATIENCE = 120
"""Seconds that an import, and its rows to be seen, may take."""


def main(out: str, *folders: str) -> None:
    with tempfile.TemporaryDirectory(prefix="milvus") as base:
        server = MilvusServer()
        server.set_base_dir(base)
        server.start()
        try:
            connections.connect(host="127.0.0.1", port=server.listen_port)
            collection = made(json.loads((Path(folders[0]) / "collection.json").read_text()))
            for folder in map(Path, folders):
                delete(collection, folder)
                imported(collection, folder)
            Path(out).write_text(json.dumps(contents(collection)))
        finally:
            connections.disconnect("default")
            server.stop()


def made(definition):
    fields = [
        FieldSchema(
            field["fieldName"],
            KINDS[field["dataType"]],
            is_primary=field.get("isPrimary", False),
            **field.get("elementTypeParams", {}),
        )
        for field in definition["schema"]["fields"]
    ]
    schema = CollectionSchema(fields, enable_dynamic_field=definition["schema"]["enableDynamicField"])
    collection = Collection(definition["collectionName"], schema, consistency_level="Strong")
    (index,) = definition["indexParams"]
    params = {"index_type": "FLAT", "metric_type": index["metricType"], "params": {}}
    collection.create_index(index["fieldName"], params)
    collection.load()
    return collection


def delete(collection, folder):
    for path in sorted(folder.glob("deletes/*.json")):
        collection.delete(json.loads(path.read_text())["filter"])


def imported(collection, folder):
    before = len(contents(collection))
    for path in sorted(folder.glob("import/*.parquet")):
        task = utility.do_bulk_insert(collection.name, [str(path.resolve())])
        wait(partial(ended, task), f"the import of {path}")
    collection.flush()
    # Rows that are imported are seen when a query node has loaded them.
    count = before + json.loads((folder / "export.json").read_text())["upserts"]
    wait(lambda: refreshed(collection) == count, f"{count} rows")


def ended(task):
    state = utility.get_bulk_insert_state(task)
    if state.state_name == "Failed":
        raise RuntimeError(str(state))
    return state.state_name in ("Persisted", "Completed")


def refreshed(collection):
    collection.load(_refresh=True)
    return len(contents(collection))


def wait(reached, what):
    begin = time.monotonic()
    while not reached():
        if time.monotonic() - begin > PATIENCE:
            raise RuntimeError(f"{what} did not come within {PATIENCE} seconds")
        time.sleep(0.2)


def contents(collection):
    found = collection.query('chunk_id >= ""', output_fields=["*"])
    assert len(found) == len({row["chunk_id"] for row in found}), "a row is there twice"
    return {row["chunk_id"]: {key: plain(value) for key, value in row.items()} for row in found}


def plain(value):
    return [float(each) for each in value] if type(value).__name__ == "ndarray" else value


if __name__ == "__main__":
    main(*sys.argv[1:])
