"""A disk that takes nothing more, in the middle of a run: one sentence, and the old snapshot as it was."""

import errno
import os
import resource
import subprocess
import sys

import pytest
import yaml

from transforms.model.errors import StorageError
from transforms.storage import local_files

TROUBLES = {
    errno.ENOSPC: "No space left on device",
    errno.EACCES: "Permission denied",
    errno.EROFS: "Read-only file system",
    errno.EIO: "Input/output error",
}


@pytest.fixture
def disk(monkeypatch):
    """``disk(number, trouble)``: from the write of that number on the disk refuses; None: it takes all again."""
    real = local_files._open_new
    state = {"left": None, "trouble": errno.ENOSPC}

    def fails(path):
        if state["left"] is not None:
            state["left"] -= 1
            if state["left"] < 0:
                raise OSError(state["trouble"], os.strerror(state["trouble"]), str(path))
        return real(path)

    def refuse_from(number, trouble=errno.ENOSPC):
        state["left"], state["trouble"] = number, trouble

    monkeypatch.setattr(local_files, "_open_new", fails)
    return refuse_from


def state_of(world):
    """What readers can see: every file of the first snapshot, and the pointer."""
    paths = [world.table / "latest.json", *sorted(world.snapshot(1).rglob("*.*"))]
    return {path: path.read_bytes() for path in paths if path.is_file()}


def test_wherever_the_disk_is_full_the_run_ends_clearly_and_the_next_one_goes_on(world, disk):
    cheap = {"embedder": {"kind": "hash", "dimension": 4}, "run": {"workers": 1, "shard_bytes": 1024}}
    for n in range(8):
        world.put(f"pages/{n}.md", f"# Page {n}\n\n" + f"Sentence {n} about wheels. " * 20)
    world.run(**cheap)
    before = state_of(world)
    world.put("pages/3.md", "# Page 3\n\n" + "Another sentence. " * 30)
    world.put("new.md", "# New\n\nA new page.\n")
    troubles = sorted(TROUBLES)
    ended = 0
    for number in range(100):
        trouble = troubles[number % len(troubles)]
        disk(number, trouble)
        try:
            outcome = world.run(**cheap)
            break
        except StorageError as error:
            sentence = str(error)
        assert TROUBLES[trouble] in sentence
        assert str(world.table) in sentence
        assert "\n" not in sentence
        ended += 1
        if world.latest() == 2:
            # All that was missing is the record of how the run ended.
            disk(None)
            outcome = world.run(**cheap)
            break
        assert state_of(world) == before
    assert outcome.snapshot == 2
    assert ended > 5
    assert {path: data for path, data in state_of(world).items() if path.name != "latest.json"}.items() <= (
        before.items()
    )
    assert [path for path in world.table.rglob(".parquetry-*") if path.name != ".parquetry-lock"] == []
    assert any("A new page." in row["text"] for row in world.rows())


def test_the_sentence_comes_out_of_beam_too(world, disk):
    world.run()
    before = state_of(world)
    world.put("new.md", "# New\n\nA new page.\n")
    disk(4)
    with pytest.raises(StorageError, match="No space left on device"):
        world.run()
    assert state_of(world) == before
    disk(None)
    assert world.run().snapshot == 2


def test_a_limit_of_the_system_is_one_sentence_on_the_command_line(world):
    """Not a fake: the system itself refuses files of more than 16 KiB."""
    for n in range(20):
        world.put(f"pages/{n}.md", f"# Page {n}\n\n" + f"Sentence {n} about wheels and valves. " * 60)
    path = world.folder / "job.yaml"
    sources = [{"name": "docs", "root": str(world.corpus)}]
    path.write_text(yaml.safe_dump({"table": str(world.table), "sources": sources, "run": {"workers": 1}}))
    done = subprocess.run(
        [sys.executable, "-m", "pipeline.cli", "run", str(path)],
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16 * 1024, 16 * 1024)),
        timeout=300,
    )
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert done.stderr.startswith("parquetry: ")
    assert "Traceback" not in done.stderr
    assert not (world.table / "latest.json").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_table_that_may_not_be_written_any_more_stays_as_it_is(world):
    world.run()
    before = state_of(world)
    world.put("new.md", "# New\n\nA new page.\n")
    (world.table / "snapshots").chmod(0o500)
    try:
        with pytest.raises(StorageError, match="Permission denied"):
            world.run()
        assert state_of(world) == before
    finally:
        (world.table / "snapshots").chmod(0o700)
    assert world.run().snapshot == 2
