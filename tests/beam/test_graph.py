"""What the pipeline carries to other machines: the stages by name, the job as values, and nothing of this machine."""

from __future__ import annotations

import base64
import bz2
import os
import pickletools
import re
import socket
import zlib
from contextlib import suppress
from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from pipeline.config import JobConfig
from pipeline.dag import run_everything
from pipeline.job import make_job
from transforms.embedders.registry import close_embedders

REPO = Path(__file__).parents[2]
OF_BEAM = re.compile(rb"/[\w./-]+/apache_beam/[\w/]+\.py")
"""Functions inside Beam that it sends whole say where Beam is installed; that is no business of ours."""
SECRET = "planted-4711-secret"
STAGES = (
    "ListObjects", "ReadSnapshot", "PlanShards", "CheckPlans", "ReadObjects", "ExtractText", "ChunkText",
    "EmbedChunks", "WriteShard", "CommitSnapshot",
)  # fmt: skip


@pytest.fixture
def graph(monkeypatch):
    """The whole job as the message that goes to a runner."""
    monkeypatch.setenv("MY_EMBEDDING_KEY", SECRET)
    config = JobConfig.model_validate(
        {
            "table": "gs://bucket/table",
            "embedder": {
                "kind": "openai", "preset": "vllm", "base_url": "http://host/v1", "model": "m", "dimension": 8,
                "api_key_env": "MY_EMBEDDING_KEY",
            },
            "sources": [
                {"name": "docs", "root": "gs://bucket/docs"},
                {"name": "pages", "root": "gs://bucket/pages", "strategy": "headings"},
            ],
        }
    )  # fmt: skip
    pipeline = beam.Pipeline(runner="FnApiRunner", options=PipelineOptions([]))
    run_everything(pipeline, make_job(config, "run", 2, 1))
    yield pipeline.to_runner_api()
    close_embedders()


def contents(data: bytes) -> list[bytes]:
    """The bytes, and what is packed in them: Beam writes pickles compressed, as letters."""
    found = [data]
    for letters in re.findall(rb"[A-Za-z0-9+/]{40,}=*", data):
        with suppress(ValueError):
            packed = base64.b64decode(letters)
            for unpack, errors in ((zlib.decompress, zlib.error), (bz2.decompress, OSError)):
                with suppress(errors, ValueError):
                    found.append(unpack(packed))
    return found


def pickles(graph) -> list[bytes]:
    found = []
    for transform in graph.components.transforms.values():
        found += [part for part in contents(transform.spec.payload)[1:] if part.startswith(b"\x80")]
    for coder in graph.components.coders.values():
        found += [part for part in contents(coder.spec.payload)[1:] if part.startswith(b"\x80")]
    return found


def modules(pickle: bytes) -> set[str]:
    """The top packages of everything that a pickle names."""
    strings: list[str] = []
    named = set()
    for opcode, argument, _ in pickletools.genops(pickle):
        if isinstance(argument, str):
            strings.append(argument)
        if opcode.name == "STACK_GLOBAL":
            named |= {text.split(".")[0] for text in strings[-4:] if re.fullmatch(r"[\w.]+", text)}
    return named


def test_no_secret_and_no_path_of_the_submitting_machine_is_in_it(graph):
    held = [OF_BEAM.sub(b"", part) for part in contents(graph.SerializeToString()) + pickles(graph)]
    assert any(b"MY_EMBEDDING_KEY" in part for part in held), "what is scanned does not hold the settings"
    here = {SECRET, str(REPO), str(Path.home()), str(Path.cwd()), os.path.realpath(REPO)}
    found = {text for text in here if any(text.encode() in part for part in held)}
    assert not found
    paths = {
        path for part in held for path in re.findall(rb"/[\w./-]*(?:pipeline|transforms)/\w+\.py", part)
    }
    assert not paths
    if len(socket.gethostname()) > 6:
        assert not any(socket.gethostname().encode() in part for part in held)


def test_it_names_the_stages_as_the_design_does(graph):
    names = {one.unique_name for one in graph.components.transforms.values()}
    assert set(STAGES) <= names
    top = {name for name in names if "/" not in name and not name.startswith("ref_")}
    assert top == {*STAGES, "Sources", "SpreadSources", "Shards", "Spread", "Receipts"}


def test_workers_get_the_job_as_values_and_no_client_or_model(graph):
    named = set().union(*map(modules, pickles(graph)))
    assert "transforms" in named
    foreign = {
        "httpx",
        "google",
        "boto3",
        "botocore",
        "onnxruntime",
        "tokenizers",
        "pyarrow",
        "numpy",
        "threading",
    }
    assert not named & foreign


def test_only_shards_on_their_way_through_one_stage_are_encoded_by_us(graph):
    coders = graph.components.coders
    ours = {name for name, coder in coders.items() if "ShardCoder" in name}
    assert len(ours) == 1
    names = graph.components.transforms.values()
    shards = {
        output: one.unique_name
        for one in names
        for output in one.outputs.values()
        if graph.components.pcollections[output].coder_id in ours
    }
    makers = {name.split("/")[0] for name in shards.values()}
    assert makers == {"ReadObjects", "ExtractText", "ChunkText", "EmbedChunks"}
    shuffles = [one for one in names if one.spec.urn == "beam:transform:group_by_key:v1"]
    assert shuffles
    assert not {name for one in shuffles for name in one.inputs.values()} & set(shards)


def test_the_keys_of_every_shuffle_are_written_the_same_on_every_machine(graph):
    from apache_beam.coders import Coder
    from apache_beam.runners.pipeline_context import PipelineContext

    context = PipelineContext(graph.components)
    keyed = [
        context.coders.get_by_id(graph.components.pcollections[name].coder_id)
        for one in graph.components.transforms.values()
        if one.spec.urn == "beam:transform:group_by_key:v1"
        for name in one.inputs.values()
    ]
    assert keyed
    for coder in keyed:
        assert isinstance(coder, Coder)
        assert coder.key_coder().is_deterministic(), coder
