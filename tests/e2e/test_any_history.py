"""Whatever happens night after night, what is published equals what a first run would publish.

Files come, change, move, break and are mended; settings change; runs die before any operation on storage;
readers are sent back; old snapshots are removed. After each run the rows are compared, column for column, with
those of a first run over the same files, and the change feed with the snapshot that the run continued.
"""

import collections
import contextlib
import datetime
import os
import shutil
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pipeline.config import JobConfig
from pipeline.run import run_job
from tests.support.crashes import Deaths, DiedError
from transforms.model.ids import sha256_hex
from transforms.sparse.registry import make_sparse
from transforms.sparse.settings import BM25Settings
from transforms.storage.registry import open_store
from transforms.table.history import published, rollback, unfinished, vacuum
from transforms.table.pointer import read_pointer
from transforms.table.reader import Snapshot
from transforms.table.terms import read_terms
from transforms.table.verify import check_files

NAMES = ["a.md", "b.md", "c/d.txt", "c/e.md"]
PARAGRAPHS = [
    f"{word} is what this paragraph is about. " * 4 for word in ("Steel", "Glass", "Wood", "Rope")
]
SETTINGS = {
    "max": (200, 60),
    "dimension": (2, 3),
    "doc_type": (None, "manual"),
    "sparse": ({"kind": "bm25"}, {"kind": "none"}),
    "terms": ((), ("steel", "about")),
    "store_text": (True, False),
    "exclude": ((), ("c/**",)),
    "also_store": ((), ("int8", "bits")),
    "source": ("docs", "Docs & more"),
}
EXAMPLES = int(os.environ.get("PARQUETRY_HISTORIES", "8"))

names = st.sampled_from(NAMES)
texts = st.lists(st.sampled_from(PARAGRAPHS), min_size=1, max_size=4).map(
    lambda parts: "# Title\n\n" + "\n\n".join(parts) + "\n"
)


changes = st.lists(
    st.one_of(
        # Edits are what happens most.
        st.tuples(st.just("write"), names, texts),
        st.tuples(st.just("write"), names, texts),
        st.tuples(st.just("write"), names, texts),
        st.tuples(st.just("break_"), names),
        st.tuples(st.just("break_"), names),
        st.tuples(st.just("delete"), names),
        st.tuples(st.just("rename"), names, names),
        st.tuples(st.just("swap"), names, names),
        st.tuples(st.just("touch"), names),
        st.tuples(st.just("toggle"), st.sampled_from(["max", "dimension", "dimension", "doc_type"])),
        st.tuples(st.just("toggle"), st.sampled_from(["sparse", "sparse", "terms", "dimension"])),
        st.tuples(st.just("toggle"), st.sampled_from(["store_text", "exclude", "also_store", "source"])),
    ),
    min_size=1,
    max_size=5,
)


class Histories(RuleBasedStateMachine):
    """One corpus and its table."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.corpus = self.folder / "corpus"
        self.corpus.mkdir()
        self.table = self.folder / "table"
        self.settings = {key: one for key, (one, _) in SETTINGS.items()}
        self.scratch = 0
        self.seen = {}
        self.counted = set()
        self.operations = 40
        """Of the last first run on storage: about as many as the next run will need."""
        self.clock = 10**18
        self.stack = contextlib.ExitStack()
        self.deaths = Deaths()
        self.stack.enter_context(self.deaths.possible())

    def teardown(self):
        self.stack.close()
        shutil.rmtree(self.folder)

    @initialize(found=st.lists(st.tuples(names, texts), min_size=4, max_size=8))
    def begin(self, found):
        for name, text in found:
            self.write(name, text)

    # What happens to the table.

    @rule(done=changes)
    def night(self, done):
        self._change(done)
        parent = self._newest()
        outcome = self._run(self.table)
        assert outcome.status in ("published", "unchanged")
        self._check_rows(parent)
        if outcome.status == "published":
            self._check_feed(parent)

    @rule(
        done=changes,
        share=st.sampled_from(range(2, 100, 2)),
        back=st.none() | st.integers(0, 9),
        then=st.just([]) | changes,
    )
    def night_with_a_death(self, done, share, back, then):
        self._change(done)
        before, rows_before = self._newest(), self._published_rows()
        self.deaths.at(share * self.operations // 100)
        with contextlib.suppress(DiedError):
            self._run(self.table)
        self.deaths.bury()
        if self._newest() == before:
            assert self._published_rows() == rows_before
        else:
            self._check_rows(before)
            self._check_feed(before)
        if back is not None and self._newest() is not None:
            self._roll_back(back)
        self.night(then)

    @precondition(lambda self: self._newest() is not None)
    @rule(choice=st.integers(0, 9), done=changes)
    def roll_back(self, choice, done):
        self._roll_back(choice)
        self.night(done)

    @precondition(lambda self: self._newest() is not None)
    @rule()
    def remove_old_ones(self):
        store = open_store(str(self.table))
        vacuum(store, 2, datetime.timedelta(0))
        assert self._newest() in [manifest.snapshot for manifest in published(store)]
        assert not [number for number in unfinished(store) if number <= read_pointer(store).highest]

    # What people do to files and settings.

    def _change(self, done):
        for what, *facts in done:
            getattr(self, what)(*facts)

    def write(self, name, text):
        self._put(name, text.encode())

    def break_(self, name):
        if (self.corpus / name).exists():
            self._put(name, b"")

    def delete(self, name):
        (self.corpus / name).unlink(missing_ok=True)

    def rename(self, old, new):
        if (self.corpus / old).exists():
            (self.corpus / new).parent.mkdir(exist_ok=True)
            (self.corpus / old).rename(self.corpus / new)

    def swap(self, one, other):
        paths = [self.corpus / one, self.corpus / other]
        if one != other and all(path.exists() for path in paths):
            paths[0].rename(self.corpus / "between")
            paths[1].rename(paths[0])
            (self.corpus / "between").rename(paths[1])

    def touch(self, name):
        if (self.corpus / name).exists():
            self._date(self.corpus / name)

    def toggle(self, key):
        one, other = SETTINGS[key]
        self.settings = self.settings | {key: other if self.settings[key] == one else one}

    # How it is looked at.

    @invariant()
    def what_was_published_never_changes(self):
        for manifest in published(open_store(str(self.table))) if self._newest() is not None else ():
            check_files(open_store(str(self.table)), manifest)
            assert self.seen.setdefault(manifest.snapshot, manifest) == manifest
            for file in manifest.files:
                data = (self.table / f"snapshots/{manifest.snapshot:06}" / file.path).read_bytes()
                assert sha256_hex(data) == file.sha256
            if manifest.snapshot not in self.counted:
                check_terms(Snapshot(open_store(str(self.table)), manifest))
                self.counted.add(manifest.snapshot)

    def _roll_back(self, choice):
        there = published(open_store(str(self.table)))
        rollback(open_store(str(self.table)), there[choice % len(there)].snapshot)

    def _put(self, name, data):
        path = self.corpus / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        self._date(path)

    def _date(self, path):
        """A version that no other content has had: what a clock gives, only faster."""
        self.clock += 1
        os.utime(path, ns=(self.clock, self.clock))

    def _config(self, table):
        return JobConfig.model_validate(
            {
                "table": str(table),
                "embedder": {
                    "kind": "hash",
                    "dimension": self.settings["dimension"],
                    "also_store": self.settings["also_store"],
                },
                "sparse": self._sparse(),
                "sources": [
                    {
                        "name": self.settings["source"],
                        "root": str(self.corpus),
                        "exclude": self.settings["exclude"],
                        "store_text": self.settings["store_text"],
                        "size": {"max": self.settings["max"], "target": self.settings["max"]},
                        "doc_type": self.settings["doc_type"],
                    }
                ],
                "limits": {"max_rejected_share": 1},
                "run": {"workers": 1, "shard_bytes": 1024},
            }
        )

    def _sparse(self):
        words = {"stop_words": self.settings["terms"]}
        return self.settings["sparse"] | (words if self.settings["sparse"]["kind"] == "bm25" else {})

    def _run(self, table):
        return run_job(self._config(table), allow_deletes=True)

    def _newest(self):
        pointer = read_pointer(open_store(str(self.table)))
        return None if pointer is None else pointer.snapshot

    def _published_rows(self):
        newest = self._newest()
        if newest is None:
            return None
        snapshot = Snapshot.open(open_store(str(self.table)), newest)
        folder = self.table / f"snapshots/{newest:06}"
        found = {str(path.relative_to(folder)) for path in folder.rglob("*/source=*/*.parquet")}
        assert found == {file.path for file in snapshot.manifest.files}
        return rows(snapshot)

    def _from_nothing(self):
        self.scratch += 1
        table = self.folder / f"scratch-{self.scratch}"
        self.deaths.at(None)
        self._run(table)
        self.operations = self.deaths.done
        snapshot = Snapshot.open(open_store(str(table)), 1)
        found = rows(snapshot)
        rejected = {row["object_name"] for row in snapshot.rejected().to_pylist()}
        shutil.rmtree(table)
        return found, rejected

    def _check_rows(self, parent):
        documents, chunks = self._published_rows()
        (wanted_documents, wanted_chunks), rejected = self._from_nothing()
        stale = {key: row for key, row in documents.items() if row["status"] == "stale"}
        assert {row["object_name"] for row in stale.values()} <= rejected
        good = documents.keys() - stale.keys()
        assert without_numbers(documents, good) == without_numbers(wanted_documents)
        of_good = {key for key, row in chunks.items() if row["doc_id"] in good}
        assert without_numbers(chunks, of_good) == without_numbers(wanted_chunks)
        self._check_last_good_rows(parent, stale, chunks, rejected)

    def _check_last_good_rows(self, parent, stale, chunks, rejected):
        """A file that cannot be read keeps what its document had before, and loses nothing else.

        A source under another name is another source, and has had nothing before.
        """
        if parent is None:
            assert not stale
            return
        before, before_chunks = rows(Snapshot.open(open_store(str(self.table)), parent))
        assert stale.keys() == {
            key
            for key, row in before.items()
            if row["object_name"] in rejected and row["source_name"] == self.settings["source"]
        }
        kept = ("doc_id", "chunk_index", "start", "end", "text", "embed_text", "embed_sha256")
        for doc_id in stale:
            assert facts(chunks, doc_id, kept) == facts(before_chunks, doc_id, kept)
        assert {len(row["embedding"]) for row in chunks.values()} <= {self.settings["dimension"]}
        encoder = make_sparse(BM25Settings(stop_words=self.settings["terms"]))
        for row in chunks.values():
            if self.settings["sparse"]["kind"] == "none":
                assert (row["sparse_indices"], row["sparse_values"]) == (None, None)
            else:
                wanted = encoder.encode([row["embed_text"]])
                assert row["sparse_indices"] == wanted.indices.tolist()
                assert row["sparse_values"] == wanted.values.tolist()

    def _check_feed(self, parent):
        """The parent's rows, without the deletes and with the changed ones, are the new rows."""
        number = self._newest()
        _, chunks = self._published_rows()
        assert all(row["changed_in"] <= number for row in chunks.values())
        folder = self.table / f"snapshots/{number:06}"
        deleted = set(pq.read_table(folder / "deletes.parquet")["chunk_id"].to_pylist())
        before = {}
        if parent is not None:
            _, before = rows(Snapshot.open(open_store(str(self.table)), parent))
        assert deleted == before.keys() - chunks.keys()
        changed = {key for key, row in chunks.items() if row["changed_in"] == number}
        assert {key: row for key, row in chunks.items() if key not in changed} == {
            key: row for key, row in before.items() if key not in deleted | changed
        }
        for key in changed & before.keys():
            assert before[key] | {"changed_in": number} != chunks[key], "changed_in moved without a change"


def check_terms(snapshot):
    """The frequencies that are kept are those of a full count, made here one by one."""
    vectors = [row for batch in snapshot.chunks(["sparse_indices"]) for row in batch[0].to_pylist()]
    kept = read_terms(snapshot)
    if snapshot.manifest.sparse is None:
        assert kept is None
        assert vectors == [None] * len(vectors)
        return
    counted = collections.Counter(term for row in vectors for term in row)
    assert kept.chunks == len(vectors)
    assert dict(zip(kept.ids.tolist(), kept.frequencies.tolist(), strict=True)) == counted
    assert kept.ids.tolist() == sorted(counted)


def rows(snapshot):
    """Documents and chunks by id, all columns."""
    documents = [row for batch in snapshot.documents() for row in batch.to_pylist()]
    chunks = [row for batch in snapshot.chunks() for row in batch.to_pylist()]
    by_id = ({row["doc_id"]: row for row in documents}, {row["chunk_id"]: row for row in chunks})
    assert [len(by_id[0]), len(by_id[1])] == [len(documents), len(chunks)]
    return by_id


def without_numbers(found, keys=None):
    return {
        key: {name: value for name, value in row.items() if name != "changed_in"}
        for key, row in found.items()
        if keys is None or key in keys
    }


def facts(chunks, doc_id, columns):
    found = [tuple(row[name] for name in columns) for row in chunks.values() if row["doc_id"] == doc_id]
    return sorted(found)


Histories.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestHistories = Histories.TestCase
