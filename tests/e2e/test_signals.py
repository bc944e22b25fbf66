"""Runs that are interrupted, killed or fail, in one process and with workers: one sentence, and no process stays."""

import os
import select
import signal
import subprocess
import sys
import time

import pytest
import yaml

SENTENCE = (
    "parquetry: interrupted. Readers see the last snapshot that was published; "
    "the same command goes on from here.\n"
)


@pytest.fixture(params=[1, 2], ids=["one process", "two workers"])
def start(world, request):
    for n in range(24):
        world.put(f"pages/{n:02}.md", f"# Page {n}\n\n" + f"Sentence {n} about wheels and valves. " * 60)
    path = world.folder / "job.yaml"
    config = {
        "table": str(world.table),
        "embedder": {"kind": "hash", "dimension": 4},
        "sources": [{"name": "docs", "root": str(world.corpus)}],
        "run": {"workers": request.param, "shard_bytes": 8192},
    }
    path.write_text(yaml.safe_dump(config))

    def run():
        command = [sys.executable, "-m", "pipeline.cli", "run", "--quiet", str(path)]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    return run


def wait_for_work(world, process):
    until = time.monotonic() + 120
    while not list((world.snapshot(1) / "_done").rglob("*.json")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "no shard was finished"
        time.sleep(0.01)


def ended(process):
    """Code and standard error, once no process is left that could write to it."""
    assert select.select([process.stdout], [], [], 300)[0], "a worker lives on"
    _out, err = process.communicate()
    return process.returncode, err


def test_an_interrupted_run_says_so_once_and_the_next_one_goes_on(world, start):
    process = start()
    wait_for_work(world, process)
    os.killpg(process.pid, signal.SIGINT)
    assert ended(process) == (130, SENTENCE)
    assert not (world.table / "latest.json").exists()
    assert ended(start()) == (0, "")
    assert world.manifest()["counts"]["documents"] == 26


def test_whatever_a_run_has_started_ends_with_it(world, start):
    process = start()
    wait_for_work(world, process)
    process.kill()
    assert ended(process) == (-signal.SIGKILL, "")


def test_a_fault_in_the_middle_of_the_work_is_one_sentence(world, start):
    world.snapshot(1).mkdir(parents=True)
    (world.snapshot(1) / "chunks").write_text("in the way")
    code, err = ended(start())
    assert code == 1
    assert err.count("\n") == 1
    assert err.endswith("cannot be written: a file has the name of its folder.\n")
