"""The place of an export: what it may be written over, when it counts as complete, what lies beside the store's files.

``export.json`` is written last and removed first; in between ``export.unfinished.json`` says that an export is
at work there, or died. Nothing but an export of the same profile is written over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from transforms.exports.files import ExportedFile
from transforms.model.errors import ConfigError, NotFoundError, StorageError

if TYPE_CHECKING:
    from transforms.storage.protocol import Store

MANIFEST = "export.json"
UNFINISHED = "export.unfinished.json"
README = "README.md"
REFUSED = "refused/"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an export holds."""

    format: int
    profile: str
    name: str
    table: str
    snapshot: int
    since: int | None
    created_at: str
    """When the snapshot was published: an export has no time of its own, so that the same one has the same bytes."""
    program: str
    dimension: int
    model: str
    columns: tuple[str, ...]
    upserts: int
    deletes: int
    refused: dict[str, int]
    """Rows that the store cannot take, by reason."""
    files: tuple[ExportedFile, ...]
    sparse: str | None = None
    """What made the sparse vectors that go along; None: none go along."""


_MANIFEST = TypeAdapter(Manifest)
_HEAD = TypeAdapter(dict[str, object])


def claim(store: Store, profile: str, *, keep: str = "") -> None:
    """Make the place ready: an older export of the same profile goes, and what begins now is marked as unfinished.

    Args:
        store: of the place.
        profile: of the export.
        keep: files whose names begin so stay; "" keeps none.

    Raises:
        ConfigError: something else is there.
    """
    names = [info.name for page in store.list() for info in page] if store.exists_root() else []
    if names:
        held = _profile_of(store)
        if held is None:
            raise ConfigError(
                f"{store.root} is not empty, and no export: it holds {names[0]}. Name an empty place."
            )
        if held != profile:
            raise ConfigError(f"{store.root} holds an export for {held}. Name another place, or empty it.")
    store.delete([MANIFEST])
    store.write(UNFINISHED, _HEAD.dump_json({"format": FORMAT, "profile": profile}) + b"\n")
    old = [name for name in names if name not in (MANIFEST, UNFINISHED)]
    store.delete(name for name in old if not keep or not name.startswith(keep))


def complete(store: Store, manifest: Manifest) -> None:
    """Say that everything is there."""
    store.write(MANIFEST, _MANIFEST.dump_json(manifest, indent=2) + b"\n")
    store.delete([UNFINISHED])


def read_manifest(store: Store) -> Manifest | None:
    """What the export at a place says of itself; None where there is none, or one that is not complete.

    Raises:
        StorageError: it is damaged.
    """
    try:
        return _MANIFEST.validate_json(store.read(MANIFEST))
    except NotFoundError:
        return None
    except ValidationError as error:
        raise StorageError(f"{store.uri(MANIFEST)} is damaged: export again.") from error


def is_ours(name: str) -> bool:
    """Whether a file is the export's own and none of the store's."""
    return name in (MANIFEST, UNFINISHED, README) or name.startswith(REFUSED)


def _profile_of(store: Store) -> str | None:
    for name in (MANIFEST, UNFINISHED):
        try:
            held = _HEAD.validate_json(store.read(name))
        except (NotFoundError, ValidationError):
            continue
        if isinstance(held.get("profile"), str):
            return str(held["profile"])
    return None
