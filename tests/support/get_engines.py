"""Gets what `make test-runners` runs on into build/engines, once: a registry a kind, each by its own client.

`python -m tests.support.get_engines` gets what is not here yet: Prism is built by go, Flink and Spark come with
Beam's runners from Maven Central, Airflow from the index of Python's packages. What is refused three times is
written down in the words of the tool that refused it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

REPO = Path(__file__).parents[2]
HOME = REPO / "build/engines"
LISTS = REPO / "tests/runners"
BEAM_OF_GO = "v2.77.0"
"""As the version of apache-beam among the constraints."""
JOB_SERVERS = {
    "flink": "org.apache.beam.runners.flink.FlinkJobServerDriver",
    "spark": "org.apache.beam.runners.spark.SparkJobServerDriver",
}
AIRFLOWS = ("airflow-2", "airflow-3")
_UV = (sys.executable, "-m", "uv")
_PAUSES = (5, 20)
"""Seconds before what was refused is asked for again."""
_TOOLS = {"prism": ("go",), "flink": ("java", "mvn"), "spark": ("java", "mvn"), "operator": ("mvn",)}


class MissingEngineError(Exception):
    """An engine is not here, and why."""


def require(name: str) -> None:
    """Pass an engine that was got.

    Raises:
        MissingEngineError: it is not here; what a tool refused is said in its words.
    """
    lacking = [tool for tool in _TOOLS.get(name, ()) if _program(tool) is None]
    if lacking:
        raise MissingEngineError(f"{name}: no {' and no '.join(lacking)} on this machine")
    refusal = HOME / f"{name}.refused"
    if refusal.exists():
        raise MissingEngineError(f"{name}: {refusal.read_text(encoding='utf-8')}")
    if not _is_here(name):
        raise MissingEngineError(f"{name}: `make test-runners` gets it")


def pass_over(reason: object) -> NoReturn:
    """End a test that has not what it needs: passed over, or failed where everything is asked for."""
    import pytest

    if os.environ.get("PARQUETRY_ENGINES") == "required":
        pytest.fail(f"{reason} (PARQUETRY_ENGINES=required)", pytrace=False)
    pytest.skip(str(reason))


def main() -> None:
    """Get every engine that is not here yet and can be had with the tools of this machine."""
    for name, get in _GET.items():
        if _is_here(name) or any(_program(tool) is None for tool in _TOOLS.get(name, ())):
            continue
        print(f"Getting {name} into {HOME}; the first time takes some minutes.", flush=True)
        refusal = get(name)
        (HOME / f"{name}.refused").unlink(missing_ok=True)
        if refusal:
            (HOME / f"{name}.refused").write_text(refusal, encoding="utf-8")
            print(f"It was refused: {refusal}", flush=True)
        else:
            (HOME / f"{name}.got").write_text(_asked(name), encoding="utf-8")


def _program(name: str) -> str | None:
    """Where a tool is; go is taken from a package too, where the machine has none."""
    packaged = Path(sysconfig.get_path("purelib")) / "go/bin"
    return shutil.which(name) or (shutil.which(name, path=str(packaged)) if name == "go" else None)


def _is_here(name: str) -> bool:
    stamp = HOME / f"{name}.got"
    return stamp.exists() and stamp.read_text(encoding="utf-8") == _asked(name)


def _asked(name: str) -> str:
    """What an engine is made of, with the versions."""
    if name == "prism":
        return BEAM_OF_GO
    if name in AIRFLOWS:
        return _requirements(name).read_text(encoding="utf-8")
    return (LISTS / name / "pom.xml").read_text(encoding="utf-8")


def _get_prism(_name: str) -> str:
    env = os.environ | {"GOBIN": str(HOME / "bin"), "GOFLAGS": "-modcacherw"}
    package = f"github.com/apache/beam/sdks/v2/go/cmd/prism@{BEAM_OF_GO}"
    return _refusal([str(_program("go")), "install", package], env)


def _get_java(name: str) -> str:
    folder = HOME / name
    shutil.rmtree(folder, ignore_errors=True)
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={folder}", "-DincludeScope=runtime"]
    refusal = _refusal(["mvn", "-q", "-B", "-f", str(LISTS / name / "pom.xml"), *goal])
    if not refusal and name in JOB_SERVERS:
        _write_launcher(folder, JOB_SERVERS[name])
    return refusal


def _requirements(name: str) -> Path:
    return LISTS / f"airflow/{name}.txt"


def _get_airflow(name: str) -> str:
    """In an environment of its own: Airflow wants other versions of much that this project has."""
    folder = HOME / name
    made = _refusal([*_UV, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
    # The list is whole, and what fits together was found out when it was written.
    install = [*_UV, "pip", "install", "--quiet", "--no-deps", "--python", str(folder / "bin/python")]
    return made or _refusal([*install, "-r", str(_requirements(name))])


def _refusal(command: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    """What a tool said that failed each time; "" where it did not. A registry may be out of reach for a moment."""
    HOME.mkdir(parents=True, exist_ok=True)
    said = ""
    for pause in (0, *_PAUSES):
        time.sleep(pause)
        said = _said_failing(command, env)
        if not said:
            break
    return said


def _said_failing(command: Sequence[str], env: Mapping[str, str] | None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if done.returncode == 0:
        return ""
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    errors = [line for line in said if "ERROR" in line] or said[-1:]
    return f"{' '.join(command[:3])}: {errors[0] if errors else f'exit code {done.returncode}'}"


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


_GET: dict[str, Callable[[str], str]] = {
    "prism": _get_prism,
    "flink": _get_java,
    "spark": _get_java,
    "operator": _get_java,
    **dict.fromkeys(AIRFLOWS, _get_airflow),
}


if __name__ == "__main__":
    main()
