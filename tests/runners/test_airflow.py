"""Airflow itself reads the DAGs of deploy/, and what it would start is the command, with options that there are."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
import typer

from pipeline import cli
from tests.support.get_engines import AIRFLOWS, HOME, REPO

VARIABLES = {
    "parquetry_image": "registry/worker:1",
    "parquetry_project": "rovers",
    "parquetry_region": "europe-west1",
    "parquetry_bucket": "corpus",
}
GIVEN = {"prefix": "archive/2024/", "max_cost": 25}
"""As docs/deploy.md starts a backfill."""
ON_DATAFLOW = [
    "--", "--runner=DataflowRunner", "--project=rovers", "--region=europe-west1",
    "--temp_location=gs://corpus/dataflow", "--sdk_container_image=registry/worker:1", "--sdk_location=container",
    "--max_num_workers=10", "--machine_type=n2-standard-4",
]  # fmt: skip


@pytest.fixture(scope="module", params=AIRFLOWS)
def read(request, got, tmp_path_factory):
    """What a release of Airflow makes of the folder."""
    got(request.param)
    home = tmp_path_factory.mktemp(request.param)
    program = REPO / "tests/runners/airflow/read_dags.py"
    command = [HOME / request.param / "bin/python", program, REPO / "deploy/airflow"]
    done = subprocess.run(
        [*command, json.dumps(VARIABLES), json.dumps(GIVEN)],
        env=os.environ | {"AIRFLOW_HOME": str(home), "PYTHONPATH": "", "PYTHONWARNINGS": "default"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["version"].startswith(request.param.removeprefix("airflow-"))
    return said, done.stdout + done.stderr


def test_it_reads_them_without_an_error_and_without_a_warning_of_our_file(read):
    said, printed = read
    assert said["errors"] == {}
    assert sorted(said["dags"]) == ["parquetry_backfill", "parquetry_nightly"]
    assert not [line for line in printed.splitlines() if "parquetry_dag.py" in line]


def test_a_backfill_is_started_as_the_documentation_says():
    text = (REPO / "docs/deploy.md").read_text()
    assert f"airflow dags trigger parquetry_backfill --conf '{json.dumps(GIVEN)}'" in text


def test_they_run_one_at_a_time_and_make_up_for_no_night(read):
    dags = read[0]["dags"]
    assert {name: dag["schedule"] for name, dag in dags.items()} == {
        "parquetry_nightly": "0 2 * * *",
        "parquetry_backfill": None,
    }
    assert {(dag["catchup"], dag["max_active_runs"]) for dag in dags.values()} == {(False, 1)}


def test_a_pod_runs_the_command_with_the_projects_own_names(read):
    dags = read[0]["dags"]
    nightly, backfill = (dags[name]["tasks"]["run"] for name in ("parquetry_nightly", "parquetry_backfill"))
    for task in (nightly, backfill):
        assert task["kind"] == "KubernetesPodOperator"
        assert task["image"] == "registry/worker:1"
        assert task["cmds"] == ["parquetry"]
        assert task["env"] == {"CORPUS_BUCKET": "corpus", "TABLE_BUCKET": "corpus"}
    first = ["run", "/configs/nightly.yaml", "--json-logs"]
    assert nightly["arguments"] == [*first, *ON_DATAFLOW]
    own = ["--full", "--prefix=archive/2024/", "--max-cost=25"]
    assert backfill["arguments"] == [*first, *own, *ON_DATAFLOW]
    command = typer.main.get_command(cli.app).commands["run"]
    known = {word for option in command.params for word in option.opts}
    assert {word.split("=")[0] for word in ["--json-logs", *own]} <= known
