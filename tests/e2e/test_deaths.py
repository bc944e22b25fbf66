"""Runs that are killed at random moments, with all their processes, and start again, in Beam and without it.

PARQUETRY_DEATHS says how often; CI has 50.
"""

import os
import random

import pytest
import yaml

from tests.support.lives import Lives
from transforms.model.ids import sha256_hex
from transforms.storage.local import LocalStore
from transforms.table.layout import done_path
from transforms.table.pointer import read_pointer
from transforms.table.reader import Snapshot
from transforms.table.verify import check_files

DEATHS = int(os.environ.get("PARQUETRY_DEATHS", "5"))
SEED = 20_261_130


@pytest.fixture
def lives(tmp_path):
    lives = Lives(tmp_path / "embedded.log")
    yield lives
    lives.close()


class Nights:
    """The same nights over two tables: one of runs that die, one of runs that nobody disturbs."""

    def __init__(self, world, lives):
        self.world = world
        self.lives = lives
        self.draw = random.Random(SEED)
        self.number = 0
        self._seconds = {}
        """How long an undisturbed run takes, at most, in Beam and without it."""
        for n in range(40):
            self._edit(n)

    def next(self):
        """Another night's edits, and what an undisturbed run makes of them."""
        self.number += 1
        for n in self.draw.sample(range(40), 6):
            self._edit(n)
        self.world.put(f"new/{self.number}.md", f"# New {self.number}\n\nA page of night {self.number}.\n")
        (self.world.corpus / f"new/{self.number - 3}.md").unlink(missing_ok=True)
        in_beam = self.number % 2 == 0
        seconds = self.lives.start(self.config("undisturbed"), in_beam=in_beam).end()
        self._seconds[in_beam] = max(seconds, self._seconds.get(in_beam, 0))

    def moment(self, in_beam):
        """Seconds after which a run is to die."""
        return self.draw.uniform(0, self._seconds.get(in_beam, max(self._seconds.values())))

    def config(self, table):
        path = self.world.folder / f"{table}.yaml"
        config = {
            "table": str(self.world.folder / table),
            "embedder": {"kind": "hash", "dimension": 8},
            "sources": [
                {"name": "docs", "root": str(self.world.corpus), "size": {"target": 400, "max": 400}}
            ],
            "run": {"workers": 1, "shard_bytes": 4096},
        }
        path.write_text(yaml.safe_dump(config))
        return path

    def store(self, table="table"):
        return LocalStore(str(self.world.folder / table))

    def newest(self):
        pointer = read_pointer(self.store())
        return 0 if pointer is None else pointer.snapshot

    def _edit(self, n):
        facts = [self.draw.randrange(10**6) for _ in range(12)]
        lines = [f"Fact {fact} of page {n} is told in a sentence of some length." for fact in facts]
        self.world.put(f"pages/{n:02}.md", f"# Page {n}\n\n" + "\n\n".join(lines) + "\n")


def paid(nights):
    """Texts whose vectors are safe: of the published snapshot, and of shards that the dead runs finished."""
    store, safe = nights.store(), set()
    if nights.newest():
        safe |= texts(Snapshot.open(store, nights.newest()).chunks(["embed_text"]))
    prefix = done_path(nights.number, "docs", "x").removesuffix("x.json")
    if not store.exists_root():
        return safe
    for receipt in (info.name for page in store.list(prefix) for info in page):
        shard = receipt.removeprefix(prefix).removesuffix(".json")
        path = f"snapshots/{nights.number:06}/chunks/source=docs/{shard}.parquet"
        # A shard whose documents have all gone has no file.
        safe |= texts_of_file(store, path) if store.stat(path) else set()
    return safe


def texts(batches):
    return {text for batch in batches for text in batch["embed_text"].to_pylist()}


def texts_of_file(store, path):
    import pyarrow.parquet as pq

    with store.open(path) as file:
        return set(pq.read_table(file, columns=["embed_text"])["embed_text"].to_pylist())


def check_readers(nights):
    """What readers see after a death is whole."""
    if nights.newest():
        snapshot = Snapshot.open(nights.store(), nights.newest())
        check_files(snapshot.store, snapshot.manifest)


def check_night(nights):
    """The same files, byte for byte, so the same rows in every column."""
    number = nights.number
    mine, theirs = (Snapshot.open(nights.store(table), number) for table in ("table", "undisturbed"))
    assert mine.manifest.files == theirs.manifest.files
    for file in mine.manifest.files:
        assert sha256_hex(mine.store.read(f"snapshots/{number:06}/{file.path}")) == file.sha256
    assert mine.manifest.parent == theirs.manifest.parent
    assert mine.manifest.terms == theirs.manifest.terms is not None
    folders = [f"snapshots/{number:06}/{kind}/" for kind in ("chunks", "documents")]
    found = [info.name for folder in folders for page in mine.store.list(folder) for info in page]
    assert len(found) == len(mine.manifest.files)


def test_runs_killed_at_any_moment_end_as_if_undisturbed_and_pay_for_no_finished_shard_again(world, lives):
    nights = Nights(world, lives)
    nights.next()
    deaths = 0
    while deaths < DEATHS:
        safe = paid(nights)
        in_beam = nights.draw.random() < 0.5
        life = lives.start(nights.config("table"), in_beam=in_beam)
        died = life.killed_after(nights.moment(in_beam))
        again = safe & set(life.embedded())
        assert not again
        check_readers(nights)
        deaths += died
        if nights.newest() == nights.number:
            check_night(nights)
            nights.next()
    lives.start(nights.config("table")).end()
    check_night(nights)
