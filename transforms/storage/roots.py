"""Roots as people write them: the place that each names, in one form, and which of them name none.

Nothing of a bucket's root is escaped or interpreted. A local one is a path: its ``.`` segments and doubled
slashes say nothing, and a leading ``~`` is the home folder.
"""

from __future__ import annotations

import os
from pathlib import Path

from transforms.model.errors import ConfigError

BUCKETS = ("gs", "s3", "az", "abfss")
_SCHEMES = ("file", *BUCKETS)
_STORES = "gs://, s3:// or az://"


def normal_root(root: str) -> str:
    """The one form of a root, behind which a slash and a name make a URI: ``./c/`` is ``c``.

    ``..`` stays, because behind a link it is another folder than the text says.

    Raises:
        ConfigError: it names no place, or no store serves it.
    """
    scheme, mark, path = root.partition("://")
    if not root.strip() or "\0" in root:
        raise ConfigError(f"{root!r} names no folder; write one, or {_STORES}.")
    if not mark:
        _refuse_half_a_scheme(root)
        return _normal_path(root)
    if scheme == "file":
        return f"file://{_normal_path(path)}"
    if scheme == "abfs":
        return normal_root(f"abfss://{path}")
    if scheme not in BUCKETS:
        raise ConfigError(f"{root}: there is no store for {scheme}://; use a local folder, {_STORES}.")
    bucket, folder = split_root(root, scheme)
    if scheme == "abfss":
        _refuse_no_account(root, bucket)
    return f"{scheme}://{bucket}/{folder}".rstrip("/")


def split_root(root: str, scheme: str) -> tuple[str, str]:
    """The bucket, and what the names of all objects begin with: "" or a folder with its slash.

    Raises:
        ConfigError: the root names no bucket.
    """
    bucket, _, folder = root.removeprefix(f"{scheme}://").partition("/")
    if not bucket:
        raise ConfigError(f"{root} names no bucket; write {scheme}://BUCKET/FOLDER.")
    folder = folder.rstrip("/")
    return bucket, f"{folder}/" if folder else ""


def _refuse_no_account(root: str, place: str) -> None:
    container, _, host = place.partition("@")
    if not container or not host.partition(".")[0]:
        raise ConfigError(
            f"{root} names no container and account; write abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER."
        )


def bucket_of(uri: str) -> str:
    """The root of a whole bucket, of a URI in it.

    Raises:
        ConfigError: it names no bucket.
    """
    scheme = uri.partition("://")[0]
    return f"{scheme}://{split_root(uri, scheme)[0]}"


def local_path(root: str) -> Path | None:
    """The folder of a normal root; None for one in a bucket."""
    scheme, mark, path = root.partition("://")
    if not mark:
        return Path(root)
    return Path(path) if scheme == "file" else None


def name_below(root: str, other: str) -> str | None:
    """What the names of all objects of ``other`` begin with in a listing of ``root``, both normal roots.

    Places are compared, not texts: links are followed, and ``file://`` is a path. "" if both are one place,
    None if ``other`` is not inside ``root``.
    """
    outer, inner = _place(root), _place(other)
    return inner[len(outer) :] if inner.startswith(outer) else None


def place_of(root: str) -> str:
    """The one text of the place that a normal root names: of a folder its absolute path without links."""
    return _place(root).rstrip("/") or "/"


def _place(root: str) -> str:
    path = local_path(root)
    text = root if path is None else os.path.realpath(path)
    return f"{text.rstrip('/')}/"


def _refuse_half_a_scheme(root: str) -> None:
    scheme, mark, rest = root.partition(":")
    if mark and scheme in _SCHEMES:
        place = rest if scheme == "file" else rest.lstrip("/")
        raise ConfigError(f"{root} is no URI; write {scheme}://{place}, or ./{root} for a folder.")


def _normal_path(path: str) -> str:
    expanded = _expanded(path)
    segments = [part for part in expanded.split("/") if part not in ("", ".")]
    if expanded.startswith("/"):
        return "/" + "/".join(segments)
    # A folder that is really called so stays one when the root is read again.
    begin = "./" if segments and _special(segments[0]) else ""
    return begin + "/".join(segments) or "."


def _special(segment: str) -> bool:
    return segment.startswith(("~", *(f"{scheme}:" for scheme in _SCHEMES)))


def _expanded(path: str) -> str:
    if not path.startswith("~"):
        return path
    try:
        return str(Path(path).expanduser())
    except RuntimeError:
        raise ConfigError(
            f"{path}: there is no home folder of that user; write ./{path} for a folder."
        ) from None
