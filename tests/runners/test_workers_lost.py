"""A machine goes down in the middle of a run: what the engine gives to others is done once, and paid once or twice."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter

import pyarrow.parquet as pq
import pytest

from tests.servers.embedding_server import EmbeddingServer
from tests.support.engine_jobs import PATIENCE, REPO, Engine, copy_of_demo
from tests.support.engines import restarts_of_flink, workers_of_pool
from transforms.embedders.registry import make_embedder
from transforms.embedders.settings import StaticSettings

MODEL = make_embedder(StaticSettings())


class Unhurried:
    """The model behind the server, which takes its time: so a run can be met in its middle."""

    seconds = 0.0

    def __getattr__(self, name):
        return getattr(MODEL, name)

    def embed(self, texts, task="document"):
        time.sleep(self.seconds)
        return MODEL.embed(texts, task)


@pytest.fixture(scope="module")
def server():
    with EmbeddingServer(Unhurried()) as server:
        yield server


@pytest.fixture(scope="module")
def place(tmp_path_factory, server):
    """A corpus, and its snapshot by this machine alone."""
    embedder = {
        "kind": "openai", "preset": "vllm", "base_url": server.url, "model": "static", "dimension": 256,
        "max_items": 2, "max_concurrency": 1,
    }  # fmt: skip
    place = copy_of_demo(tmp_path_factory.mktemp("lost"), embedder)
    done = place.run("here", Engine())
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def paid(server):
    """What the server is asked from now on, unhurriedly."""
    server.texts.clear()
    server.embedder.seconds = 0.4
    yield lambda: Counter(text for request in server.texts for text in request)
    server.embedder.seconds = 0.0


def done_records(place, name):
    return set((place.table(name) / "snapshots/000001/_done").rglob("*.json"))


def met_in_its_middle(place, name, engine):
    """A run that is at work: some shards are done, others are not; and the texts of those that are."""
    process = subprocess.Popen(
        place.command(name, engine), cwd=REPO, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + PATIENCE
    while len(done_records(place, name)) < 2:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < until, "no shard was done"
        time.sleep(0.02)
    return process, texts_of(place, name, done_records(place, name))


def texts_of(place, name, records) -> set[str]:
    """The texts of the shards that these records say are done."""
    snapshot = place.table(name) / "snapshots/000001"
    files = [file["path"] for path in records for file in json.loads(path.read_text())["files"]]
    return {
        text
        for file in files
        if file.startswith("chunks/")
        for text in pq.ParquetFile(snapshot / file).read(["embed_text"])["embed_text"].to_pylist()
    }


def assert_as_if_undisturbed(place, name):
    folders = [place.table(one) / "snapshots/000001" for one in (name, "here")]
    manifests = [json.loads((folder / "manifest.json").read_text()) for folder in folders]
    # Checksums of all files, and so every row and its place.
    for key in ("files", "terms", "counts", "sources"):
        assert manifests[0][key] == manifests[1][key]
    (ids,) = {
        tuple(
            chunk_id
            for path in sorted((folder / "chunks").rglob("*.parquet"))
            for chunk_id in pq.ParquetFile(path).read(["chunk_id"])["chunk_id"].to_pylist()
        )
        for folder in folders
    }
    assert len(ids) == len(set(ids)) == manifests[0]["counts"]["chunks"]


def kill_worker(cluster):
    workers_of_pool()[-1].kill()


def kill_task_manager(cluster):
    cluster[1][0].kill()


@pytest.mark.parametrize("kill", [kill_worker, kill_task_manager])
def test_what_is_killed_costs_the_shards_it_had_and_no_row(kill, place, flink, cluster, paid):
    name = kill.__name__
    before = restarts_of_flink()
    process, finished = met_in_its_middle(place, name, flink)
    kill(cluster)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, f"{out}\n{err}"
    assert_as_if_undisturbed(place, name)
    texts = paid()
    assert len(texts) == json.loads(out)["counts"]["embedded"]
    again = {text for text, times in texts.items() if times > 1}
    # Each time that the job begins again, what was under way is done again.
    assert max(texts.values()) <= 1 + restarts_of_flink() - before
    assert not again & finished


@pytest.mark.parametrize("name", ["processes", "prism"])
def test_where_nothing_tries_again_the_next_run_goes_on_and_pays_for_no_finished_shard(
    name, place, paid, request
):
    engine = request.getfixturevalue(name)
    process, finished = met_in_its_middle(place, name, engine)
    workers_of_pool()[-1].kill()
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, f"{out}\n{err}"
    assert "The runner failed, and run " in err
    assert not (place.table(name) / "latest.json").exists()
    done = place.run(name, engine)
    assert done.returncode == 0, done.stderr
    assert_as_if_undisturbed(place, name)
    texts = paid()
    assert max(texts.values()) <= 2
    assert not {text for text, times in texts.items() if times > 1} & finished
