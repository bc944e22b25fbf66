"""Runs that are really killed, and runs that really meet: processes of their own."""

import os
import signal
import subprocess
import sys
import time

import pytest
import yaml


@pytest.fixture
def job(world):
    for n in range(60):
        world.put(f"pages/{n:02}.md", f"# Page {n}\n\n" + f"Sentence {n} about wheels and valves. " * 60)
    path = world.folder / "job.yaml"

    def start(table="table", workers=1, beam_args=()):
        config = {
            "table": str(world.folder / table),
            "sources": [{"name": "docs", "root": str(world.corpus)}],
            "run": {"workers": workers, "shard_bytes": 8192},
        }
        path.write_text(yaml.safe_dump(config))
        command = [sys.executable, "-m", "pipeline.cli", "run", str(path), *beam_args]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    return start


def wait_for(found, seconds=300):
    until = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < until, "what was waited for did not come"
        time.sleep(0.005)


def finish(process):
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def files(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for kind in ("chunks/**/*", "documents/**/*", "terms")
        for path in sorted(folder.glob(f"{kind}.parquet"))
    }


IN_BEAM = {"beam_args": ("--", "--runner=DirectRunner")}
TWO_WORKERS = {"workers": 2}


@pytest.mark.parametrize("runs", [({}, {}, {}), (TWO_WORKERS, {}, IN_BEAM)], ids=["one way", "every way"])
def test_a_run_killed_again_and_again_ends_as_if_undisturbed(world, job, runs):
    assert finish(job("undisturbed"))[0] == 0
    done = world.snapshot(1) / "_done"
    for wanted, how in zip((1, 4, 8), runs, strict=True):
        process = job(**how)
        wait_for(lambda wanted=wanted: len(list(done.rglob("*.json"))) >= wanted)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert not (world.table / "latest.json").exists()
    first = {path: path.stat().st_mtime_ns for path in done.rglob("*.json")}
    code, _out, err = finish(job())
    assert (code, err) == (0, "")
    # Shards that were done were not done again.
    assert {path: path.stat().st_mtime_ns for path in first} == first
    assert files(world.snapshot(1)) == files(world.folder / "undisturbed/snapshots/000001")
    # A shard that was killed between its file and its receipt is done again, with the vectors of that file.
    counts = world.manifest()["counts"]
    assert counts["embedded"] + counts["reused"] == counts["chunks"]
    assert counts["embedded"] > counts["reused"]


def test_of_two_runs_at_once_one_publishes_and_the_other_names_it(world, job):
    one = job()
    wait_for((world.snapshot(1) / "_plan/_claim.json").exists)
    # It holds still meanwhile: it could be done before the other has begun.
    os.kill(one.pid, signal.SIGSTOP)
    code, _out, err = finish(job())
    os.kill(one.pid, signal.SIGCONT)
    assert code == 4
    assert f"process {one.pid}" in err
    assert "Traceback" not in err
    assert finish(one)[0] == 0
    assert world.latest() == 1
