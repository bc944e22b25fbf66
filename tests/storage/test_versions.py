"""Parts of an object are read at the version that was listed, on every store."""

import pytest

from transforms.model.errors import PreconditionError
from transforms.storage.version import opened_version, read_spans

DATA = bytes(range(256)) * 8_192
"""More than a reader fetches at once."""


def test_spans_of_a_version_are_read_and_joined(store):
    store.write("a", DATA)
    token = store.stat("a").token
    spans = ((0, 3), (1_000_000, 2_000_001), (len(DATA) - 2, len(DATA)))
    assert read_spans(store, "a", token, spans) == b"".join(DATA[start:end] for start, end in spans)


def test_spans_of_another_version_are_refused(store):
    store.write("a", DATA)
    token = store.stat("a").token
    store.write("a", DATA[::-1])
    with pytest.raises(PreconditionError, match="changed after it was listed"):
        read_spans(store, "a", token, ((0, 3),))
    store.delete(["a"])
    with pytest.raises(PreconditionError, match="changed after it was listed"):
        read_spans(store, "a", token, ((0, 3),))


def test_an_object_that_is_replaced_while_it_is_read_is_refused(store):
    store.write("a", DATA)
    token = store.stat("a").token

    def read():
        with opened_version(store, "a", token) as file:
            file.read(1)
            store.write("a", b"other")
            file.seek(len(DATA) - 1)
            file.read(1)

    with pytest.raises(PreconditionError):
        read()
