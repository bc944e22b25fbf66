"""Whether the files of a snapshot are those that were written: asked before readers are sent there.

All files are looked up in one listing. What a run wrote itself is read again and hashed, and of the files that
it keeps some, in turn, so that each is read once in a while and no run reads the table. A store that
tells a checksum of each object sees to its bytes itself.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from transforms.table.damage import damaged
from transforms.table.layout import CHUNKS, DOCUMENTS, snapshot_dir, terms_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.model.objects import ObjectInfo
    from transforms.model.shard import FileInfo
    from transforms.storage.protocol import Store
    from transforms.table.manifest import Manifest

BYTES_IN_TURN = 256 * 2**20
"""Bytes of kept files that one run reads, about."""
_PARALLEL = 8
"""Files hashed at once; clients of stores keep ten connections."""


def check_files(store: Store, manifest: Manifest) -> None:
    """Hold the manifest's files against a listing.

    Raises:
        TableError: naming the first file that is missing or has another size, and what helps.
    """
    for path, fault in wrong_files(store, manifest.snapshot, manifest.files).items():
        raise damaged(store, snapshot_dir(manifest.snapshot) + path, fault)
    if manifest.terms is not None:
        path = terms_path(manifest.snapshot)
        fault = _fault(manifest.terms, store.stat(path))
        if fault:
            raise damaged(store, path, fault)


def wrong_files(
    store: Store, number: int, files: Sequence[FileInfo], read: Sequence[FileInfo] = ()
) -> dict[str, str]:
    """Of ``files`` of a snapshot those that are not as they were written, and what is wrong with each.

    Sizes are those of a listing; the files of ``read`` are hashed too.
    """
    folder = snapshot_dir(number)
    listed = {
        info.name.removeprefix(folder): info
        for kind in (CHUNKS, DOCUMENTS)
        for page in store.list(f"{folder}{kind}/")
        for info in page
    }
    wrong: dict[str, str] = {}
    for file in files:
        fault = _fault(file, listed.get(file.path))
        if fault:
            wrong[file.path] = fault
    unsure = [file for file in read if file.path not in wrong and not listed[file.path].checksum]
    return wrong | dict(_other_bytes(store, folder, unsure))


def _fault(file: FileInfo, found: ObjectInfo | None) -> str:
    """What a listing has against a file, if anything."""
    if found is None:
        return "is missing"
    same = found.size == file.bytes
    return "" if same else f"should have {file.bytes:,} bytes and has {found.size:,}"


def is_whole(store: Store, number: int, files: Sequence[FileInfo]) -> bool:
    """Whether all of a few files of a snapshot hold the very bytes that were written, each asked by name."""
    folder = snapshot_dir(number)
    facts = ((file, store.stat(folder + file.path)) for file in files)
    if any(info is None or info.size != file.bytes for file, info in facts):
        return False
    return not any(_other_bytes(store, folder, files))


def in_turn(files: Sequence[FileInfo], number: int) -> list[FileInfo]:
    """About ``BYTES_IN_TURN`` of kept files, others in each snapshot until all have been."""
    turns = -(-sum(file.bytes for file in files) // BYTES_IN_TURN)
    return [file for file in files if turns and int(file.sha256[:8], 16) % turns == number % turns]


def _other_bytes(store: Store, folder: str, files: Sequence[FileInfo]) -> Iterator[tuple[str, str]]:
    def sha256(file: FileInfo) -> str:
        with store.open(folder + file.path) as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()  # type: ignore[arg-type]

    with ThreadPoolExecutor(_PARALLEL) as pool:
        for file, found in zip(files, pool.map(sha256, files), strict=True):
            if found != file.sha256:
                yield file.path, "is damaged: its bytes are not those that were written"
