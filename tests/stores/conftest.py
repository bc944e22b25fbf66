"""Stores to hold to one contract. Each has an adapter in ``adapters/``, which shows it as its own users see it.

An adapter is a module with three functions: ``started()``, a context manager that starts what is needed and gives a
function from an empty folder to an address; ``rows(to, collection)``, what is there, as ``Seen`` by id; and
``nearest(to, collection, vector, most, source=None)``, ids by cosine, of one source or all.

What a store has besides, it has functions for: ``by_terms(to, collection, terms, most)``, ids by the inner product of
sparse vectors, those without a common term left out, if the store takes them, with ``SPARSE_ERROR`` for a relative
error if it rounds them; ``by_words(to, collection, words, most)``, ids of rows whose text has a word, best first, if it
finds texts by words; and ``hybrid(to, collection, question, most)``, ids by both sides of a ``Question`` at once.
"""

import contextlib
import gc
import importlib
import os
import shutil
from dataclasses import dataclass
from types import ModuleType

import pytest

from tests.stores.history import make_history
from transforms.loaders.address import parse_address
from transforms.loaders.load import load
from transforms.loaders.plan import Wishes
from transforms.loaders.registry import open_loader
from transforms.loaders.settings import LoadSettings

STORES = [
    "chdb",
    "chroma",
    "duckdb",
    "elasticsearch",
    "faiss",
    "lancedb",
    "milvus",
    "opensearch",
    "postgres",
    "qdrant",
    "redis",
    "sqlite",
    "usearch",
]  # fmt: skip


@dataclass
class Stand:
    """One store with nothing in it, for one test."""

    name: str
    adapter: ModuleType
    to: str

    def load(self, store, *, since=None, full=False, adopt=False, to=None, watch=None, **settings):
        wishes = Wishes(since=since, full=full, adopt=adopt)
        given = LoadSettings(to=to or self.to, **{"batch": 16, **settings})
        return load(store, given, wishes, watch or (lambda done, total: None))

    def rows(self, collection="chunks"):
        return self.adapter.rows(self.to, collection)

    def nearest(self, vector, most, source=None, collection="chunks"):
        return self.adapter.nearest(self.to, collection, vector, most, source)

    def by_terms(self, terms, most, collection="chunks"):
        return self.adapter.by_terms(self.to, collection, terms, most)

    def by_words(self, words, most, collection="chunks"):
        return self.adapter.by_words(self.to, collection, words, most)

    def hybrid(self, question, most, collection="chunks"):
        return self.adapter.hybrid(self.to, collection, question, most)

    def has(self, *functions):
        """Whether the adapter has one of these functions."""
        return any(hasattr(self.adapter, name) for name in functions)

    @contextlib.contextmanager
    def loader(self):
        """The loader itself, to do what a load would not."""
        with contextlib.closing(open_loader(parse_address(self.to))) as loader:
            yield loader


@pytest.fixture(scope="session")
def history(tmp_path_factory):
    return make_history(tmp_path_factory.mktemp("history"))


@pytest.fixture
def table(history, tmp_path):
    """A table of its own for each test; snapshot 1 is its newest."""
    return shutil.copytree(history, tmp_path / "table")


@pytest.fixture(scope="session", params=STORES)
def started(request):
    """A store that lives as long as it is tested, or the reason to pass over its tests.

    Where `make test-stores` asks for all, none is passed over.
    """
    with contextlib.ExitStack() as stack:
        try:
            adapter = importlib.import_module(f"tests.stores.adapters.{request.param}")
            address = stack.enter_context(adapter.started())
        except ImportError as error:
            if os.environ.get("PARQUETRY_STORES") == "required":
                pytest.fail(str(error))
            pytest.skip(f"{request.param}: {error}; the extra `stores` brings it")
        yield request.param, adapter, address
        # What is left open of one store is not to be a warning in the tests of another.
        gc.collect()


@pytest.fixture
def stand(started, tmp_path):
    name, adapter, address = started
    folder = tmp_path / "store"
    folder.mkdir()
    return Stand(name, adapter, address(folder))
