"""Dataflow as far as it can be had here: the command of the README stages packages and pipeline and submits a job.

The service that takes the job is a server on loopback. It works as Dataflow does on what was staged, with Beam's
local runner, so that a pipeline which cannot be read by another machine fails here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from io import BytesIO

import pytest
import yaml

from tests.servers.buckets import environment, gcs_server, new_bucket
from tests.servers.dataflow_service import DataflowService
from tests.support.engine_jobs import PATIENCE, REPO, on_dataflow

SECRET = "planted-4711-secret"
STAGES = (
    "ListObjects", "ReadSnapshot", "PlanShards", "CheckPlans", "ReadObjects", "ExtractText", "ChunkText",
    "EmbedChunks", "WriteShard", "CommitSnapshot",
)  # fmt: skip


@dataclass
class Cloud:
    """A bucket with a corpus, and the service that jobs go to."""

    root: str
    service: DataflowService
    folder: object

    def run(self, *more: str) -> subprocess.CompletedProcess[str]:
        """The README's command, for this bucket and this service."""
        config = {
            "table": f"{self.root}/table",
            "embedder": {"kind": "static"},
            "sources": [{"name": "docs", "root": f"{self.root}/docs"}],
        }
        path = self.folder / "job.yaml"
        path.write_text(yaml.safe_dump(config))
        options = [re.sub(r"gs://BUCKET", self.root, word) for word in on_dataflow()]
        command = [sys.executable, "-m", "pipeline.cli", "run", str(path), "--", *options]
        return subprocess.run(
            [*command, "--no_auth", f"--dataflow_endpoint={self.service.url}", *more],
            cwd=REPO, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip

    def names(self) -> list[str]:
        return [blob.name for blob in _client().list_blobs(self.root.removeprefix("gs://"))]

    def read(self, name: str) -> bytes:
        return _client().bucket(self.root.removeprefix("gs://")).blob(name).download_as_bytes()

    def staged(self, name: str) -> bytes:
        """A file of the job that was submitted last."""
        (found,) = (one for one in self.names() if one.startswith("tmp/") and one.endswith(f"/{name}"))
        return self.read(found)


def _client():
    from google.cloud import storage

    return storage.Client.create_anonymous_client()


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """A bucket on a server of this machine, in which the job that Dataflow was given has run."""
    with gcs_server() as url, DataflowService() as service, pytest.MonkeyPatch.context() as patch:
        for name, value in environment("gcs", url).items():
            patch.setenv(name, value)
        patch.setenv("MY_KEY", SECRET)
        cloud = Cloud(new_bucket("gcs"), service, tmp_path_factory.mktemp("dataflow"))
        docs = _client().bucket(cloud.root.removeprefix("gs://"))
        for number in range(3):
            docs.blob(f"docs/{number}.md").upload_from_string(f"# Page {number}\n\nThe wheel {number}.\n")
        service.work = lambda _job: work_on(cloud.staged("pipeline.pb"), cloud.folder)
        yield cloud


@pytest.fixture(scope="module")
def done(cloud):
    """The end of the command."""
    return cloud.run()


def work_on(pipeline: bytes, folder) -> None:
    """Run a staged pipeline in a process that knows nothing else of the job."""
    path = folder / "pipeline.pb"
    path.write_bytes(pipeline)
    subprocess.run([sys.executable, "-c", _WORK, str(path)], cwd=folder, check=True, timeout=PATIENCE)


_WORK = """
import sys
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.portability import python_urns
from apache_beam.portability.api import beam_runner_api_pb2
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

pipeline = beam_runner_api_pb2.Pipeline.FromString(open(sys.argv[1], "rb").read())
for environment in pipeline.components.environments.values():
    environment.urn, environment.payload = python_urns.EMBEDDED_PYTHON, b""
    del environment.dependencies[:]
FnApiRunner().run_via_runner_api(pipeline, PipelineOptions([])).wait_until_finish()
"""


def test_the_job_that_dataflow_is_given_publishes_the_snapshot(cloud, done):
    assert done.returncode == 0, done.stderr
    assert "Published snapshot 1 of gs://" in done.stdout
    assert json.loads(cloud.read("table/latest.json"))["snapshot"] == 1


def test_the_job_says_what_workers_are_to_be(cloud, done):
    (job,) = cloud.service.jobs
    (pool,) = job["environment"]["workerPools"]
    assert pool["autoscalingSettings"]["maxNumWorkers"] == 10
    assert {package["name"] for package in pool["packages"]} >= {"workflow.tar.gz"}
    assert "use_runner_v2" in job["environment"]["experiments"]


def test_the_two_packages_are_staged_with_their_data_and_nothing_else(cloud, done):
    with tarfile.open(fileobj=BytesIO(cloud.staged("workflow.tar.gz"))) as staged:
        names = {"/".join(name.split("/")[1:]) for name in staged.getnames()}
    assert {"setup.py", "pipeline/run.py", "transforms/stages/write.py", "README.md"} <= names
    data = {path.relative_to(REPO).as_posix() for path in (REPO / "transforms/embedders/data").rglob("*.*")}
    assert data <= names
    assert not {name for name in names if name.startswith(("tests/", "benchmarks/", "docs/", "build/"))}


def test_the_staged_pipeline_has_the_stages_and_no_secret_and_no_folder_of_this_machine(cloud, done):
    from apache_beam.portability.api import beam_runner_api_pb2

    data = cloud.staged("pipeline.pb")
    pipeline = beam_runner_api_pb2.Pipeline.FromString(data)
    assert set(STAGES) <= {one.unique_name for one in pipeline.components.transforms.values()}
    submitted = json.dumps(cloud.service.jobs).encode()
    for text in (SECRET, str(cloud.folder), os.path.realpath(REPO)):
        assert text.encode() not in data
        assert text.encode() not in submitted
    (environment,) = pipeline.components.environments.values()
    assert environment.urn == "beam:env:docker:v1"
    assert {bytes(one.type_payload).partition(b"gs://")[1] for one in environment.dependencies} == {
        b"gs://"
    }


def test_a_template_is_written_down_and_publishes_when_it_is_started(cloud, done):
    jobs = len(cloud.service.jobs)
    docs = _client().bucket(cloud.root.removeprefix("gs://"))
    docs.blob("docs/new.md").upload_from_string("# New\n\nA page of the second night.\n")
    written = cloud.run(
        f"--template_location={cloud.root}/template/job", f"--staging_location={cloud.root}/staging"
    )
    assert written.returncode == 0, written.stderr
    assert "Written down as run " in written.stdout
    assert len(cloud.service.jobs) == jobs
    assert json.loads(cloud.read("table/latest.json"))["snapshot"] == 1
    job = json.loads(cloud.read("template/job"))
    assert job["environment"]["sdkPipelineOptions"]["options"]["project"] == "PROJECT"
    # Its launcher is gone by then, and with it whoever could claim the snapshot.
    (staged,) = (name for name in cloud.names() if re.fullmatch("staging/.*pipeline.pb", name))
    work_on(cloud.read(staged), cloud.folder)
    assert json.loads(cloud.read("table/latest.json"))["snapshot"] == 2
