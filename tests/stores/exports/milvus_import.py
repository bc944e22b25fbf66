"""Load exports into a real Milvus server by its bulk import: ``python -m ...milvus_import OUT FOLDER...``

The first folder's ``collection.json`` makes the collection; of each folder the deletes are done and the files imported,
in this order. What is there at the end is written to OUT, id to record. The server ends with the program.
"""

import json
import sys
import tempfile
import time
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
"""Seconds that an import may take."""


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
    for path in sorted(folder.glob("import/*.parquet")):
        task = utility.do_bulk_insert(collection.name, [str(path.resolve())])
        begin = time.monotonic()
        state = utility.get_bulk_insert_state(task)
        while state.state_name not in ("Persisted", "Completed"):
            if state.state_name == "Failed" or time.monotonic() - begin > PATIENCE:
                raise RuntimeError(f"{path}: {state}")
            time.sleep(0.2)
            state = utility.get_bulk_insert_state(task)
    collection.flush()
    utility.wait_for_index_building_complete(collection.name)
    collection.load(_refresh=True)


def contents(collection):
    found = collection.query('chunk_id >= ""', output_fields=["*"])
    assert len(found) == len({row["chunk_id"] for row in found}), "a row is there twice"
    return {row["chunk_id"]: {key: plain(value) for key, value in row.items()} for row in found}


def plain(value):
    return [float(each) for each in value] if type(value).__name__ == "ndarray" else value


if __name__ == "__main__":
    main(*sys.argv[1:])
