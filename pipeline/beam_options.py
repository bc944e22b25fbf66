"""Refuse what Beam would pass over in silence: options that it does not know, and words that are none."""

from __future__ import annotations

import contextlib
import io
import logging
from typing import TYPE_CHECKING

from pipeline.config.faults import meant
from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence

LOCAL_RUNNERS = ("", "DirectRunner", "FnApiRunner")
_KNOWN_WHOLE = (*LOCAL_RUNNERS, "DataflowRunner")
"""Runners all of whose options this installation knows; others ask their server for theirs."""


def runner_of(args: Sequence[str]) -> str:
    """The name of the runner that options choose, without its package; "" where they choose none."""
    if not args:
        # Beam takes a second to load, and a quiet night needs nothing else of it.
        return ""
    from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions

    runner = PipelineOptions(list(args)).view_as(StandardOptions).runner or ""
    return str(runner).rsplit(".", 1)[-1]


def check_beam_options(args: Sequence[str]) -> None:
    """Pass options that Beam will heed.

    Raises:
        ConfigError: an option is unknown, or its value is of another kind; the near one is asked for.
    """
    if not args:
        return
    parser, unknown = _parsed(args)
    if unknown and (runner_of(args) in _KNOWN_WHOLE or not unknown[0].startswith("--")):
        raise ConfigError(_sentence(unknown[0], parser))


def _parsed(args: Sequence[str]) -> tuple[ArgumentParser, list[str]]:
    """The parser of all options that Beam knows here, and the words that it does not."""
    from apache_beam.options.pipeline_options import PipelineOptions

    # What it would warn of is refused here.
    logging.getLogger("apache_beam.options").setLevel(logging.ERROR)
    options = PipelineOptions(list(args))
    found: list[ArgumentParser] = []
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            options.get_all_options(add_extra_args_fn=found.append)
    except SystemExit:
        fault = said.getvalue().rpartition("error: ")[2].strip()
        raise ConfigError(f"Beam takes no such option: {fault}.") from None
    return found[0], found[0].parse_known_args(list(args))[1]


def _sentence(word: str, parser: ArgumentParser) -> str:
    if not word.startswith("-"):
        return f"`{word}` is no option of Beam's: they begin with --, as in --direct_num_workers=2."
    name = word.split("=", 1)[0]
    near = meant(name, (f"--{dest}" for dest in vars(parser.parse_args([]))))
    return f"Beam knows no option {name}" + (f"; {near}" if near else ".")
