"""Read parts of one version of an object, that which a listing named, and of no other."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from transforms.model.errors import NotFoundError, PreconditionError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from transforms.storage.protocol import Store


@contextmanager
def opened_version(store: Store, name: str, token: str) -> Iterator[BinaryIO]:
    """The object, open for the block. What was read there counts only if the block ends without an error.

    A reader of a bucket stays with the version that it opened, and a file on a disk tells by its time that it was
    written; a version never comes back. So one look at the end says that all that was read is of ``token``.

    Raises:
        PreconditionError: another version was there, or none.
        StorageError: it cannot be read.
    """
    changed = PreconditionError(f"{store.uri(name)} changed after it was listed.")
    try:
        with store.open(name) as file:
            yield file
        now = store.stat(name)
    except NotFoundError as error:
        raise changed from error
    except OSError as error:
        raise StorageError(f"{store.uri(name)}: {error.strerror or error}.") from error
    if now is None or now.token != token:
        raise changed


def read_spans(store: Store, name: str, token: str, spans: tuple[tuple[int, int], ...]) -> bytes:
    """The bytes of half-open spans of that version, joined; raises as :func:`opened_version`."""
    pieces = []
    with opened_version(store, name, token) as file:
        for start, end in spans:
            file.seek(start)
            pieces.append(file.read(end - start))
    return b"".join(pieces)
