"""What is dear to make is made once in each process, however many instances of a stage Beam makes there."""

from __future__ import annotations

from collections import Counter

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from pipeline.config import JobConfig
from pipeline.dag import run_everything
from pipeline.job import make_job
from transforms.embed import _Embed
from transforms.embedders import static
from transforms.embedders.registry import close_embedders
from transforms.extract import _Extract
from transforms.extractors import isolate
from transforms.stages.about import about, keep_about
from transforms.stages.outcome import read_outcome
from transforms.storage.registry import open_store
from transforms.table import lookup
from transforms.table.lease import Lease

SHARDS = 12


@pytest.fixture
def made(monkeypatch):
    """How often each thing was made, and which instances of stages have worked, by process."""
    counts: Counter = Counter()
    instances: dict[str, set[int]] = {"embed": set(), "extract": set()}

    def counted(owner, name, what):
        original = getattr(owner, name)

        def instead(*args, **kwargs):
            counts[what] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, instead)

    def noted(stage, name):
        original = stage.process

        def instead(self, element):
            instances[name].add(id(self))
            return original(self, element)

        monkeypatch.setattr(stage, "process", instead)

    counted(static, "build", "models")
    counted(isolate.subprocess, "Popen", "processes for extraction")
    counted(lookup.HashIndex, "_scanned", "indexes")
    noted(_Embed, "embed")
    noted(_Extract, "extract")
    close_embedders()
    # Another test may have started it.
    isolate._forget()
    yield counts, instances
    close_embedders()
    isolate._shared().close()


def write(folder, count, thing):
    for number in range(count):
        text = "".join(f"\nParagraph {line} of text {number}: the {thing} turns.\n" for line in range(40))
        (folder / f"docs/{number:02}.rst").write_text(f"Title\n=====\n{text}")


def config_of(folder):
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    write(folder, SHARDS, "wheel")
    return JobConfig.model_validate(
        {
            "table": str(folder / "table"),
            "embedder": {"kind": "static"},
            "sources": [{"name": "docs", "root": str(docs), "extract": {"isolate": True}}],
            "run": {"workers": 4, "shard_bytes": 1024},
        }
    )


def run_in_threads(config, number):
    """The whole job in threads of this process, each with its own instances of the stages."""
    options = PipelineOptions(["--direct_num_workers=4", "--direct_running_mode=multi_threading"])
    job = make_job(config, f"run-{number}", number, number - 1 or None)
    with Lease(open_store(job.table), number, job.run_id, parent=job.parent):
        keep_about(about(job), job.table)
        with beam.Pipeline(runner="FnApiRunner", options=options) as pipeline:
            run_everything(pipeline, job)
        return read_outcome(job)


def test_threads_of_a_process_share_the_model_the_reader_and_the_index(tmp_path, made):
    counts, instances = made
    config = config_of(tmp_path)
    assert run_in_threads(config, 1).counts["documents"] == SHARDS
    write(tmp_path, SHARDS, "radio")
    assert run_in_threads(config, 2).counts["embedded"] > 0
    assert min(map(len, instances.values())) > 1
    # An index of vectors in each run, and of texts in the second, which has a snapshot before it.
    assert counts == {"models": 1, "processes for extraction": 1, "indexes": 3}
