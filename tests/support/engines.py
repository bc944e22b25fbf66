"""Engines that run Beam's pipelines on this machine, started and stopped by tests with the README's commands."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.get_engines import HOME, REPO, require
from tests.support.readme import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PATIENCE = 300
"""Seconds until a program answers that was started: it shares a machine with whatever else is on it."""
_OPENED = (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
    "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action",
    "sun.util.calendar",
)  # fmt: skip
"""What Spark asks of a Java newer than 8, as its own scripts have it."""


@dataclass(frozen=True, slots=True)
class Process:
    """A program that was started, and where it writes."""

    pid: int
    log: Path

    def kill(self) -> None:
        """End it as a machine that goes down would."""
        os.kill(self.pid, 9)


@contextlib.contextmanager
def started(
    name: str, command: Sequence[str | Path], port: int | None, env: Mapping[str, str] | None = None
) -> Iterator[Process]:
    """A program that answers on ``port``, if it has one, and ends with the block, with all that it started."""
    log = HOME / "logs" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    guard = [sys.executable, str(REPO / "tests/servers/guarded.py"), str(os.getpid())]
    whole = dict(os.environ) | dict(env or {})
    with (
        log.open("w", encoding="utf-8") as out,
        subprocess.Popen([*guard, *map(str, command)], stdout=out, stderr=out, env=whole) as guarded,
    ):
        try:
            _wait_for(guarded, port, log)
            yield Process(_child(guarded.pid), log)
        finally:
            guarded.terminate()


@contextlib.contextmanager
def worker_pool(name: str = "pool", port: int | None = None) -> Iterator[str]:
    """The address of a pool of workers: an engine asks it for a process for each of its slots."""
    port = port or free_port()
    # It starts its workers as `python`, whichever comes first.
    env = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    program = "python -m apache_beam.runners.worker.worker_pool_main"
    command = [sys.executable, *program.split()[1:], *_at(port, shown(program))]
    with started(name, command, port, env):
        yield f"localhost:{port}"


def workers_of_pool() -> list[Process]:
    """The worker processes that pools have started, the youngest last."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if b"SdkHarness(" in path.read_bytes() and _is_ours(int(path.parent.name)):
                found.append(int(path.parent.name))
    # Numbers of processes begin again when they are used up.
    return [Process(pid, HOME / "logs/pool.log") for pid in sorted(found, key=_started_at)]


def _is_ours(pid: int) -> bool:
    """Whether a process descends from this one: other tests may run pools of theirs."""
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = _facts(pid)[1]
    return False


def _started_at(pid: int) -> int:
    return _facts(pid)[19]


def _facts(pid: int) -> list[int]:
    """What Linux says of a process, from its state's letter on, which is 0 here: parent, ..., when it started."""
    words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return [0, *map(int, words[1:])]


@contextlib.contextmanager
def job_service(name: str) -> Iterator[str]:
    """The address of Beam's own job service, in Python: portability without an engine."""
    port = free_port()
    command = [sys.executable, "-m", "apache_beam.runners.portability.local_job_service_main"]
    with started(f"job-service-{name}", [*command, "--port", str(port)], port):
        yield f"localhost:{port}"


@contextlib.contextmanager
def prism() -> Iterator[str]:
    """The address of a Prism."""
    require("prism")
    port = free_port()
    command = [HOME / "bin/prism", *_at(port, shown("prism")), "-serve_http=false"]
    with started("prism", command, port):
        yield f"localhost:{port}"


@contextlib.contextmanager
def job_server(kind: str, master: str) -> Iterator[str]:
    """The address of the job server of Flink or Spark, for a cluster or for engines in its own process."""
    require(kind)
    port = free_port()
    words = [master if ":" in word else word for word in shown("java -jar beam-job-server.jar")]
    if kind == "spark":
        words[words.index("--flink-master")] = "--spark-master-url"
    command = [*_java(), "-jar", HOME / kind / "job-server.jar", *_at(port, words)]
    command += ["--artifact-port", "0", "--expansion-port", "-1", "--artifacts-dir", HOME / "staged"]
    with started(f"{kind}-job-server", command, port):
        yield f"localhost:{port}"


@contextlib.contextmanager
def flink_cluster(task_managers: int, slots: int) -> Iterator[tuple[str, list[Process]]]:
    """A job manager and task managers, each a process: the address of the first, and the others."""
    require("flink")
    ports = {"rest": free_port(), "rpc": free_port()}
    with contextlib.ExitStack() as stack:
        jobs = _flink_home("job-manager", ports, slots)
        stack.enter_context(started("flink-job-manager", _flink(jobs, _JOB_MANAGER), ports["rest"]))
        workers = []
        for number in range(task_managers):
            name = f"task-manager-{number + 1}"
            home = _flink_home(name, ports, slots)
            command = _flink(home, _TASK_MANAGER, *_MEMORY)
            workers.append(stack.enter_context(started(f"flink-{name}", command, None)))
        address = f"localhost:{ports['rest']}"
        _wait_for_slots(address, task_managers * slots)
        yield address, workers


def restarts_of_flink() -> int:
    """How often jobs were begun again in the cluster that was started last."""
    log = (HOME / "logs/flink-job-manager.log").read_text(encoding="utf-8", errors="replace")
    return log.count(" to RESTARTING.")


def free_port() -> int:
    """A port that nobody listens on, of those that no program is given that asks for any."""
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no port is free")


def _at(port: int, words: list[str]) -> list[str]:
    """Words of a command with another port for the one that stands alone."""
    return [str(port) if re.fullmatch(r"\d{4,5}", word) else word for word in words]


_JOB_MANAGER = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
_TASK_MANAGER = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"
_MEMORY = (
    "-Dtaskmanager.cpu.cores=1",
    "-Dtaskmanager.memory.task.heap.size=256m",
    "-Dtaskmanager.memory.task.off-heap.size=0",
    "-Dtaskmanager.memory.framework.heap.size=128m",
    "-Dtaskmanager.memory.framework.off-heap.size=128m",
    "-Dtaskmanager.memory.network.min=256m",
    "-Dtaskmanager.memory.network.max=256m",
    "-Dtaskmanager.memory.managed.size=128m",
    "-Dtaskmanager.memory.jvm-metaspace.size=128m",
    "-Dtaskmanager.memory.jvm-overhead.min=64m",
    "-Dtaskmanager.memory.jvm-overhead.max=64m",
)


def _java() -> list[str]:
    """The beginning of a command line."""
    opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED]
    return ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *opened]


def _flink(home: Path, program: str, *more: str) -> list[str | Path]:
    classes = f"{HOME / 'flink'}/*"
    return [*_java(), "-cp", classes, program, "--configDir", home, *more]


def _flink_home(name: str, ports: Mapping[str, int], slots: int) -> Path:
    home = HOME / "run" / name
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    settings = {
        "jobmanager.rpc.address": "localhost",
        "jobmanager.rpc.port": ports["rpc"],
        "jobmanager.bind-host": "localhost",
        "jobmanager.memory.process.size": "1g",
        "taskmanager.host": "localhost",
        "taskmanager.numberOfTaskSlots": slots,
        "rest.port": ports["rest"],
        "rest.address": "localhost",
        # The classes of Beam are here and in what its job server hands over.
        "classloader.resolve-order": "parent-first",
        # A worker that is gone is noticed in seconds, and what it had is given to another.
        "heartbeat.interval": 2000,
        "heartbeat.timeout": 20000,
        # The slots of a job are on all machines, and not on the first with room.
        "cluster.evenly-spread-out-slots": "true",
        "restart-strategy.type": "fixed-delay",
        # Longer than the heartbeat's timeout: until then work is sent to the machine that is gone.
        "restart-strategy.fixed-delay.attempts": 40,
        "restart-strategy.fixed-delay.delay": "1 s",
        "io.tmp.dirs": home / "tmp",
    }
    lines = [f"{key}: {value}\n" for key, value in settings.items()]
    (home / "flink-conf.yaml").write_text("".join(lines), encoding="utf-8")
    return home


def _wait_for_slots(address: str, wanted: int) -> None:
    from urllib.request import urlopen

    found = 0
    for _ in _moments():
        with contextlib.suppress(OSError), urlopen(f"http://{address}/overview", timeout=5) as answer:
            found = json.load(answer)["slots-total"]
        if found >= wanted:
            return
    raise RuntimeError(f"{address} has {found} of {wanted} slots; see {HOME / 'logs'}")


def _wait_for(process: subprocess.Popen[bytes], port: int | None, log: Path) -> None:
    if port is None:
        return
    for _ in _moments():
        with socket.socket() as probe:
            if probe.connect_ex(("localhost", port)) == 0:
                return
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended at once; see {log}")
    raise RuntimeError(f"{process.args!r} does not answer on port {port}; see {log}")


def _child(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    for _ in _moments():
        found = children.read_text(encoding="ascii").split()
        if found:
            return int(found[0])
    raise RuntimeError(f"process {pid} started nothing")


def _moments() -> Iterator[None]:
    """Ten a second, as long as patience lasts."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        yield
        time.sleep(0.1)
