"""A table with a history, made by the job itself: nights with edits, deletions and renames, a rollback, another model.

| snapshot | parent | what happened |
|---|---|---|
| 1 | | all documents of two sources |
| 2 | 1 | one edited, one deleted, one renamed, one new; a text that is there twice |
| 3 | 2 | the edit taken back, the deleted one back, another one edited |
| 4 | 2 | after a rollback to 2: others edited and deleted |
| 5 | 4 | another model with longer vectors |
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.config import JobConfig
from pipeline.run import run_job
from transforms.storage.local import LocalStore
from transforms.table.history import rollback
from transforms.table.reader import Snapshot
from transforms.table.terms import read_terms

DIMENSION = 16
OTHER_DIMENSION = 24
BRANCHES = {3: 2, 4: 2}


def make_history(folder: Path) -> Path:
    """The table's folder."""
    corpus = folder / "corpus"
    table = folder / "table"

    def put(name: str, text: str) -> None:
        (corpus / name).parent.mkdir(parents=True, exist_ok=True)
        (corpus / name).write_text(text, encoding="utf-8")

    def run(dimension: int = DIMENSION) -> None:
        run_job(_job(corpus, table, dimension), allow_deletes=True)

    for n in range(24):
        put(f"manual/{n:02}.md", page(n))
    for n in range(8):
        put(f"notes/{n}.txt", f"Note {n}: it's the \"{n}th\" — grüße, 你好 {{{n}}} 'quoted'.\n")
    run()
    put("manual/03.md", page(3, "The edited valve is red."))
    (corpus / "manual/04.md").unlink()
    (corpus / "manual/05.md").rename(corpus / "manual/renamed 5%.md")
    put("manual/24.md", page(24))
    put("notes/twice.txt", "The same.\n\n\nThe same.\n")
    run()
    put("manual/03.md", page(3))
    put("manual/04.md", page(4))
    put("manual/06.md", page(6, "This one is edited on the third night."))
    run()
    rollback(LocalStore(str(table)), 2)
    put("manual/07.md", page(7, "This one is edited on the other branch."))
    (corpus / "manual/08.md").unlink()
    (corpus / "notes/1.txt").unlink()
    run()
    run(OTHER_DIMENSION)
    rollback(LocalStore(str(table)), 1)
    return table


def page(n: int, more: str = "") -> str:
    """A document of several chunks under headings."""
    parts = "\n\n".join(f"## Part {k}\n\nStep {k} of page {n}: turn wheel {n * k}." for k in range(4))
    return f"# Page {n}\n\n{more or 'Nothing special.'}\n\n{parts}\n"


def _job(corpus: Path, table: Path, dimension: int) -> JobConfig:
    source = {"size": {"target": 80, "max": 120}}
    return JobConfig.model_validate(
        {
            "table": str(table),
            "embedder": {"kind": "hash", "dimension": dimension},
            "sources": [
                {"name": "manual", "root": str(corpus / "manual"), **source},
                {"name": "Notes & more", "root": str(corpus / "notes"), **source},
            ],
            "limits": {"max_rejected_share": 0.9},
            "run": {"workers": 1, "shard_bytes": 2048},
        }
    )


def at(table: Path, number: int) -> LocalStore:
    """The table, with that snapshot as its newest."""
    store = LocalStore(str(table))
    rollback(store, number)
    return store


def rows(table: Path, number: int | None = None) -> dict[str, dict]:
    """The rows of a snapshot, or of the newest, by id."""
    store = LocalStore(str(table))
    snapshot = Snapshot.newest(store) if number is None else Snapshot.open(store, number)
    return {row["chunk_id"]: row for row in pa.Table.from_batches(snapshot.chunks()).to_pylist()}


def similarities(found: dict[str, dict], question: np.ndarray) -> dict[str, float]:
    """The cosine of each row's vector and the question."""
    vectors = np.array([row["embedding"] for row in found.values()])
    cosines = vectors @ question / np.linalg.norm(vectors, axis=1) / np.linalg.norm(question)
    return dict(zip(found, cosines.tolist(), strict=True))


def weights(table: Path, number: int, ids: Iterable[int]) -> dict[int, float]:
    """Terms as a question has them that has each once: their inverse document frequencies in a snapshot."""
    store = LocalStore(str(table))
    asked = np.array(sorted(ids), np.uint32)
    found = read_terms(Snapshot.open(store, number))
    return dict(zip(asked.tolist(), found.idf(asked).tolist(), strict=True))


def scores(found: dict[str, dict], terms: dict[int, float]) -> dict[str, float]:
    """The inner product of each row's sparse vector and a question's, of rows that have one of its terms."""
    products = {
        key: sum(
            terms.get(term, 0.0) * value
            for term, value in zip(row["sparse_indices"], row["sparse_values"], strict=True)
        )
        for key, row in found.items()
    }
    return {key: product for key, product in products.items() if product > 0}


def spoil(table: Path, number: int, column: str, value: object) -> str:
    """Give a row that changed in a snapshot another value in one column, as damage would; the row's id."""
    for path in sorted((table / f"snapshots/{number:06}/chunks").rglob("*.parquet")):
        found = pq.read_table(path, partitioning=None)
        changed = found["changed_in"].to_pylist()
        if number in changed:
            at = changed.index(number)
            values = found[column].to_pylist()
            values[at] = value
            place = found.schema.get_field_index(column)
            field = found.schema.field(place)
            # Not through the hard link that other snapshots share.
            path.unlink()
            pq.write_table(found.set_column(place, field, pa.array(values, field.type)), path)
            return str(found["chunk_id"][at])
    raise LookupError(number)
