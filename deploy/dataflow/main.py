"""What the Flex Template's launcher starts: `parquetry run` with the parameters of the template.

The launcher gives each parameter as `--name=value`, and Beam's options with them. The configuration is an
object in a bucket; everything that is no parameter of ours goes to Beam.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

OURS = ("source", "prefix", "since", "recipe", "max_tokens", "max_cost")
"""Options of `parquetry run` that take a value."""
SWITCHES = ("full", "allow_deletes", "take_over")
"""Those that are there or not; a template can only say `true` or `false`."""


def command(argv: list[str], config: Path) -> list[str]:
    """The words behind `parquetry`, for a configuration that lies at ``config``."""
    given, beam = _parser().parse_known_args(argv)
    words = ["run", str(config), "--json-logs"]
    for name in OURS:
        value = getattr(given, name)
        values = value.split(",") if name == "source" and value else [value] if value else []
        words += [f"--{name.replace('_', '-')}={one}" for one in values]
    words += [f"--{name.replace('_', '-')}" for name in SWITCHES if getattr(given, name) == "true"]
    chosen = [] if any(word.startswith("--runner") for word in beam) else ["--runner=DataflowRunner"]
    return [*words, "--", *chosen, *beam]


def config_of(argv: list[str]) -> bytes:
    """The configuration that the parameters name."""
    from transforms.storage.registry import open_store

    folder, _, name = _parser().parse_known_args(argv)[0].config.rpartition("/")
    return open_store(folder).read(name)


def main() -> None:
    """Fetch the configuration and hand over to the command line."""
    from pipeline.cli import main as parquetry

    argv = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.yaml"
        path.write_bytes(config_of(argv))
        sys.argv = ["parquetry", *command(argv, path)]
        parquetry()


def _parser() -> argparse.ArgumentParser:
    # Beam's options begin with other words, and none of them is to be taken for the beginning of one of ours.
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--config", required=True)
    for name in OURS:
        parser.add_argument(f"--{name}", default="")
    for name in SWITCHES:
        parser.add_argument(f"--{name}", choices=("true", "false"), default="false")
    return parser


if __name__ == "__main__":
    main()
