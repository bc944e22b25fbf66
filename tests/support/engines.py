"""Engines that run Beam's pipelines on this machine: got once into build/engines, started and stopped by tests.

`python -m tests.support.engines` gets what can be had: Prism is built by go, Flink and Spark come with Beam's
runners from Maven Central. What is refused is written down in the words of the tool that refused it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

REPO = Path(__file__).parents[2]
HOME = REPO / "build/engines"
POMS = REPO / "tests/runners"
BEAM_OF_GO = "v2.77.0"
"""As the version of apache-beam among the constraints."""
JOB_SERVERS = {
    "flink": "org.apache.beam.runners.flink.FlinkJobServerDriver",
    "spark": "org.apache.beam.runners.spark.SparkJobServerDriver",
}
_OPENED = (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
    "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action",
    "sun.util.calendar",
)  # fmt: skip
"""What Spark asks of a Java newer than 8, as its own scripts have it."""
_TOOLS = {"prism": ("go",), "flink": ("java", "mvn"), "spark": ("java", "mvn"), "operator": ("mvn",)}


class MissingEngineError(Exception):
    """An engine is not here, and why."""


@dataclass(frozen=True, slots=True)
class Process:
    """A program that was started, and where it writes."""

    pid: int
    log: Path

    def kill(self) -> None:
        """End it as a machine that goes down would."""
        os.kill(self.pid, 9)


def require(name: str) -> None:
    """Pass an engine that was got.

    Raises:
        MissingEngineError: it is not here; what a tool refused is said in its words.
    """
    lacking = [tool for tool in _TOOLS[name] if shutil.which(tool) is None]
    if lacking:
        raise MissingEngineError(f"no {' and no '.join(lacking)} on this machine")
    refusal = HOME / f"{name}.refused"
    if refusal.exists():
        raise MissingEngineError(refusal.read_text(encoding="utf-8"))
    if not _is_here(name):
        raise MissingEngineError("`make test-runners` gets it")


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
def worker_pool(name: str = "pool") -> Iterator[str]:
    """The address of a pool of workers: an engine asks it for a process for each of its slots."""
    port = free_port()
    # It starts its workers as `python`, whichever comes first.
    env = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "apache_beam.runners.worker.worker_pool_main", "--service_port", port]
    with started(name, [*map(str, command)], port, env):
        yield f"localhost:{port}"


def workers_of_pool() -> list[Process]:
    """The worker processes that pools have started, the youngest last."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if b"SdkHarness(" in path.read_bytes() and _is_ours(int(path.parent.name)):
                found.append(int(path.parent.name))
    return [Process(pid, HOME / "logs/pool.log") for pid in sorted(found)]


def _is_ours(pid: int) -> bool:
    """Whether a process descends from this one: other tests may run pools of theirs."""
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    return False


@contextlib.contextmanager
def job_service() -> Iterator[str]:
    """The address of Beam's own job service, in Python: portability without an engine."""
    port = free_port()
    command = [sys.executable, "-m", "apache_beam.runners.portability.local_job_service_main"]
    with started("job-service", [*command, "--port", str(port)], port):
        yield f"localhost:{port}"


@contextlib.contextmanager
def prism() -> Iterator[str]:
    """The address of a Prism."""
    require("prism")
    port = free_port()
    command = [HOME / "bin/prism", "-job_port", str(port), "-serve_http=false"]
    with started("prism", command, port):
        yield f"localhost:{port}"


@contextlib.contextmanager
def job_server(kind: str, master: str) -> Iterator[str]:
    """The address of the job server of Flink or Spark, for a cluster or for engines in its own process."""
    require(kind)
    port = free_port()
    master_option = "--flink-master" if kind == "flink" else "--spark-master-url"
    command = [*_java(), "-jar", HOME / kind / "job-server.jar", "--job-port", str(port)]
    command += ["--artifact-port", "0", "--expansion-port", "-1", master_option, master]
    command += ["--artifacts-dir", HOME / "staged"]
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


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def main() -> None:
    """Get every engine that is not here yet."""
    for name, get in _GET.items():
        if _is_here(name) or any(shutil.which(tool) is None for tool in _TOOLS[name]):
            continue
        print(f"Getting {name} into {HOME}; the first time takes some minutes.", flush=True)
        refusal = get(name)
        (HOME / f"{name}.refused").unlink(missing_ok=True)
        if refusal:
            (HOME / f"{name}.refused").write_text(refusal, encoding="utf-8")
            print(f"It was refused: {refusal}", flush=True)
        else:
            (HOME / f"{name}.got").write_text(_asked(name), encoding="utf-8")


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
    for _ in range(600):
        with contextlib.suppress(OSError), urlopen(f"http://{address}/overview") as answer:
            found = json.load(answer)["slots-total"]
        if found >= wanted:
            return
        time.sleep(0.1)
    raise RuntimeError(f"{address} has {found} of {wanted} slots; see {HOME / 'logs'}")


def _wait_for(process: subprocess.Popen[bytes], port: int | None, log: Path) -> None:
    for _ in range(1200 if port else 0):
        with socket.socket() as probe:
            if probe.connect_ex(("localhost", port or 0)) == 0:
                return
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended at once; see {log}")
        time.sleep(0.1)
    if port:
        raise RuntimeError(f"{process.args!r} does not answer on port {port}; see {log}")


def _child(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    for _ in range(100):
        found = children.read_text(encoding="ascii").split()
        if found:
            return int(found[0])
        time.sleep(0.1)
    raise RuntimeError(f"process {pid} started nothing")


def _is_here(name: str) -> bool:
    stamp = HOME / f"{name}.got"
    return stamp.exists() and stamp.read_text(encoding="utf-8") == _asked(name)


def _asked(name: str) -> str:
    """What an engine is made of, with the versions."""
    return BEAM_OF_GO if name == "prism" else (POMS / name / "pom.xml").read_text(encoding="utf-8")


def _get_prism(_name: str) -> str:
    env = os.environ | {"GOBIN": str(HOME / "bin"), "GOFLAGS": "-modcacherw"}
    package = f"github.com/apache/beam/sdks/v2/go/cmd/prism@{BEAM_OF_GO}"
    return _refusal(["go", "install", package], env)


def _get_java(name: str) -> str:
    folder = HOME / name
    shutil.rmtree(folder, ignore_errors=True)
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={folder}", "-DincludeScope=runtime"]
    refusal = _refusal(["mvn", "-q", "-B", "-f", str(POMS / name / "pom.xml"), *goal])
    if not refusal and name in JOB_SERVERS:
        _write_launcher(folder, JOB_SERVERS[name])
    return refusal


def _refusal(command: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    """What a tool said that failed; "" where it did not."""
    HOME.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if done.returncode == 0:
        return ""
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    errors = [line for line in said if "ERROR" in line] or said[-1:]
    return f"{' '.join(command[:2])}: {errors[0] if errors else f'exit code {done.returncode}'}"


def _write_launcher(folder: Path, program: str) -> None:
    """A jar that names the others, so that `java -jar` starts the job server as with Beam's own fat jar."""
    names = " ".join(sorted(path.name for path in folder.glob("*.jar")))
    lines = ["Manifest-Version: 1.0", f"Main-Class: {program}", *_folded(f"Class-Path: {names}")]
    with zipfile.ZipFile(folder / "job-server.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "\r\n".join(lines) + "\r\n\r\n")


def _folded(line: str, width: int = 70) -> Iterator[str]:
    """Lines of a manifest are short; the next one goes on behind a blank."""
    yield line[:width]
    for start in range(width, len(line), width - 1):
        yield " " + line[start : start + width - 1]


_GET = {"prism": _get_prism, "flink": _get_java, "spark": _get_java, "operator": _get_java}


if __name__ == "__main__":
    main()
