"""Runs of the job in process groups of their own, started in milliseconds, to be killed for good.

A parent imports everything once and forks a child a run. The child leads its own process group, writes every
text that it embeds into a log before it gets the vector, and is killed from outside.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

REPO = Path(__file__).parents[2]


class Lives:
    """The parent process; ``start`` gives a run's life."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "tests.support.lives", str(log)],
            cwd=REPO,
            text=True,
            bufsize=1,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._read() == "ready"

    def start(self, config: Path, *, in_beam: bool = False) -> Life:
        self._log.write_text("")
        self._write(json.dumps([str(config), ["--runner=DirectRunner"] if in_beam else []]))
        return Life(self, int(self._read()), self._log)

    def close(self) -> None:
        self._parent.communicate(timeout=60)

    def ended_within(self, seconds: float) -> int | None:
        """The status of the run, if it comes to its end in that time."""
        ready, _, _ = select.select([self._parent.stdout], [], [], seconds)
        return int(self._read()) if ready else None

    def _read(self) -> str:
        assert self._parent.stdout is not None
        return self._parent.stdout.readline().strip()

    def _write(self, line: str) -> None:
        assert self._parent.stdin is not None
        self._parent.stdin.write(line + "\n")
        self._parent.stdin.flush()


class Life:
    """One run."""

    def __init__(self, lives: Lives, pid: int, log: Path) -> None:
        self._lives = lives
        self._pid = pid
        self._log = log
        self._began = time.monotonic()

    def killed_after(self, seconds: float) -> bool:
        """Whether the run was still alive then, and is dead now with all its processes."""
        if self._lives.ended_within(seconds) is not None:
            return False
        os.killpg(self._pid, signal.SIGKILL)
        return self._lives.ended_within(60) == -signal.SIGKILL

    def end(self) -> float:
        """Wait until the run is done well; the seconds it took."""
        status = self._lives.ended_within(300)
        assert status == 0, f"the run ended with {status}"
        return time.monotonic() - self._began

    def embedded(self) -> list[str]:
        """The texts that the run has paid for."""
        lines = self._log.read_text().split("\n")
        # The last line may have been cut by the death.
        return [json.loads(line) for line in lines[:-1]]


def main(log: str) -> None:
    from transforms.embedders.hashed import HashEmbedder

    for name in (
        "apache_beam",
        "pipeline.dag",
        "pipeline.config",
        "pipeline.run",
        "transforms.storage.local",
    ):
        importlib.import_module(name)
    real = HashEmbedder.embed

    def logged(self, texts, task="document"):  # type: ignore[no-untyped-def]
        handle = os.open(log, os.O_WRONLY | os.O_APPEND)
        os.write(handle, "".join(f"{json.dumps(text)}\n" for text in texts).encode())
        os.close(handle)
        return real(self, texts, task)

    HashEmbedder.embed = logged  # type: ignore[method-assign]
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _run(*json.loads(line))
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(config: str, beam_args: list[str]) -> None:
    from pipeline.config import load_config
    from pipeline.run import run_job

    os.setsid()
    try:
        outcome = run_job(load_config(Path(config)), beam_args, allow_deletes=True)
        code = 0 if outcome.status in ("published", "unchanged") else 3
    except BaseException:  # noqa: BLE001 - whatever it is, the child ends here
        traceback.print_exc()
        code = 1
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1])
