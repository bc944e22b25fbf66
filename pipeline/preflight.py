"""Find everything at once that would stop a run before it does anything: what the configuration names must be there."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pipeline.beam_options import check_beam_options
from pipeline.elsewhere import check_reach
from pipeline.job import gate_of, make_job
from transforms.embedders.registry import make_embedder
from transforms.model.errors import ConfigError, NewerTableError, ParquetryError, StorageError
from transforms.storage.registry import open_store
from transforms.storage.roots import local_path
from transforms.table.recognise import require_table_or_empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pipeline.config import JobConfig, SourceConfig


def check_job(config: JobConfig, beam_args: Sequence[str] = ()) -> None:
    """Pass a job whose sources, table, embedder and options can be used on this machine.

    A store that is out of reach passes: the run will say so, and what can be read goes on.

    Raises:
        ConfigError: something cannot be used, in a line each; nothing was written.
        NewerTableError: a newer program wrote the table.
    """
    faults = list(_faults(config, beam_args))
    if faults:
        raise ConfigError("\n".join(["This job cannot run; nothing was done:", *faults]))


def _faults(config: JobConfig, beam_args: Sequence[str]) -> Iterator[str]:
    for source in config.sources:
        yield from _fault(f"source `{source.name}`", check_reach, source.root, beam_args)
        yield from _fault(f"source `{source.name}`", _check_root, source.root)
    yield from _fault("table", check_reach, config.table, beam_args)
    yield from _fault("table", _check_table, config.table)
    yield from _fault("options", check_beam_options, beam_args)
    of_embedder = list(_fault("embedder", make_embedder, config.embedder))
    yield from of_embedder
    of_gate = list(_fault("gate", gate_of, config))
    yield from of_gate
    # A source is tried as a job of its own: without embedder or gate each would tell their fault once more.
    for source in () if of_embedder or of_gate else config.sources:
        yield from _fault(f"source `{source.name}`", _check_settings, source, config)


def _fault(subject: str, check: Callable[..., object], *given: object) -> Iterator[str]:
    try:
        check(*given)
    except NewerTableError:
        raise
    except StorageError:
        # Out of reach is not missing: the run will tell, and what can be read goes on.
        return
    except ParquetryError as error:
        yield f"  {subject}: {str(error).rstrip('.')}"


def _check_root(root: str) -> None:
    if open_store(root).exists_root():
        return
    path = local_path(root)
    if path is not None and path.is_file():
        raise ConfigError(
            f"{root} is a file; name its folder as `root`, and the file in `include`: [{path.name}]"
        )
    raise ConfigError(f"there is nothing at {root}")


def _check_table(root: str) -> None:
    path = local_path(root)
    if path is not None:
        _check_folder(path)
    require_table_or_empty(open_store(root))


def _check_folder(path: Path) -> None:
    """Whether a folder is there or can be made, and can be written to."""
    above = next(
        place for place in (path, *path.absolute().parents) if place.exists() or place.is_symlink()
    )
    if not above.is_dir():
        what = "is no folder" if above == path else f"cannot be made: {above} is no folder"
        raise ConfigError(f"{path} {what}")
    if not os.access(above, os.W_OK | os.X_OK):
        raise ConfigError(f"{path} cannot be written: {above} lets this user write nothing")


def _check_settings(source: SourceConfig, config: JobConfig) -> None:
    if source.strategy == "code" and find_spec("tree_sitter") is None:
        raise ConfigError(
            "strategy `code` needs grammars, which are not installed: pip install 'parquetry[code]'"
        )
    make_job(config.model_copy(update={"sources": (source,)}), "check", 1, None)
