"""What deploy/ ships: checked by what can check it here, each file by its kind's own rules."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pipeline import cli
from tests.support.get_engines import pass_over

DEPLOY = Path(__file__).parents[3] / "deploy"
OF_LAUNCHER = {"config"}
IMAGES = re.compile(r"^FROM (?:--\S+ )?(\S+)", re.MULTILINE)


def metadata() -> dict:
    return json.loads((DEPLOY / "dataflow/metadata.json").read_text())


@pytest.fixture(scope="module")
def launcher():
    spec = importlib.util.spec_from_file_location("flex_main", DEPLOY / "dataflow/main.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def documents(path: Path) -> list[dict]:
    return list(yaml.safe_load_all(path.read_text()))


def test_the_template_has_a_parameter_for_each_option_of_its_launcher_and_no_other(launcher):
    named = {one["name"] for one in metadata()["parameters"]}
    assert named == {"config", *launcher.OURS, *launcher.SWITCHES}


def test_parameters_are_options_of_the_command(launcher):
    import typer

    options = typer.main.get_command(cli.app).commands["run"].params
    known = {word for option in options for word in option.opts}
    for name in (*launcher.OURS, *launcher.SWITCHES):
        assert f"--{name.replace('_', '-')}" in known


def test_parameters_have_what_the_console_asks_for():
    for one in metadata()["parameters"]:
        assert set(one) == {"name", "label", "helpText", "paramType", "isOptional", "regexes"}
        assert one["paramType"] in {"TEXT", "GCS_READ_FILE"}
        assert re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]*", one["name"])
        assert one["isOptional"] == (one["name"] not in OF_LAUNCHER)
        for pattern in one["regexes"]:
            re.compile(pattern)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("config", ["gs://my-bucket/jobs/nightly.yaml", "gs://b.example/x.yml"], ["nightly.yaml", "gs://b", "s3://bucket/x.yaml"]),
        ("source", ["", "docs", "docs,more notes"], ["docs,", ",docs"]),
        ("since", ["", "2026-11-30", "2026-11-30T18:00", "2026-11-30T18:00:00Z"], ["yesterday", "30.11.2026"]),
        ("recipe", ["", "0af3"], ["0AF3", "recipe"]),
        ("max_tokens", ["", "1", "250000"], ["0", "-1", "1e6"]),
        ("max_cost", ["", "0", "2.50"], ["$2", "-1", "2,5"]),
        ("full", ["true", "false"], ["", "yes"]),
        ("allow_deletes", ["true", "false"], ["True"]),
        ("take_over", ["true", "false"], ["1"]),
    ],
)  # fmt: skip
def test_values_of_parameters_are_taken_and_refused(name, good, bad):
    (one,) = (one for one in metadata()["parameters"] if one["name"] == name)
    (pattern,) = one["regexes"]
    assert [value for value in good if re.fullmatch(pattern, value) is None] == []
    assert [value for value in bad if re.fullmatch(pattern, value) is not None] == []


def test_the_launcher_runs_the_command_with_parameters_and_options_of_beam(launcher):
    argv = [
        "--config=gs://b/job.yaml",
        "--source=docs,notes",
        "--max_cost=2.5",
        "--full=true",
        "--take_over=false",
    ]
    argv += ["--project=p", "--template_location=gs://b/t"]
    assert launcher.command(argv, Path("/tmp/job.yaml")) == [
        "run", "/tmp/job.yaml", "--json-logs", "--source=docs", "--source=notes", "--max-cost=2.5", "--full", "--",
        "--runner=DataflowRunner", "--project=p", "--template_location=gs://b/t",
    ]  # fmt: skip
    assert (
        launcher.command(["--config=gs://b/j.yaml", "--runner=FlinkRunner"], Path("j"))[-1]
        == "--runner=FlinkRunner"
    )


def test_the_launcher_reads_the_configuration_where_it_lies(launcher, tmp_path):
    (tmp_path / "job.yaml").write_text("version: 1\n")
    assert launcher.config_of([f"--config={tmp_path}/job.yaml"]) == b"version: 1\n"


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("Dockerfile")), ids=lambda path: path.parent.name)
def test_an_image_is_of_named_versions_and_takes_only_what_is_in_the_repository(path):
    text = path.read_text()
    for image in IMAGES.findall(text):
        assert image.startswith("${") or (":" in image and not image.endswith(":latest")), image
    for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        for name in line.split():
            assert (DEPLOY.parent / name).exists(), name
    if path.parent.name == "worker":
        assert "-c constraints.txt" in text
        assert re.search(r"^USER \d+$", text, re.MULTILINE)
        beam = re.search(
            r"^apache-beam==(.+)$", (DEPLOY.parent / "constraints.txt").read_text(), re.MULTILINE
        )
        assert f"beam_python3.11_sdk:{beam[1]} " in text


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("Dockerfile")), ids=lambda path: path.parent.name)
def test_hadolint_finds_nothing_in_an_image(path):
    program = shutil.which("hadolint") or shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if program is None:
        pass_over("no hadolint: pip install 'parquetry[deploy]'")
    done = subprocess.run([program, str(path)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)


@pytest.mark.parametrize("path", sorted((DEPLOY / "kubernetes").glob("*.yaml")), ids=lambda path: path.stem)
def test_kubernetes_knows_every_field(path):
    try:
        import kubernetes_validate as validate
    except ImportError:
        pass_over("no kubernetes-validate: pip install 'parquetry[deploy]'")
    for document in documents(path):
        if "flink" not in document["apiVersion"]:
            validate.validate(document, "1.30", strict=True)


def test_the_config_in_the_nightly_run_of_kubernetes_is_valid(tmp_path):
    from pipeline.config import load_config

    (config,) = (one for one in documents(DEPLOY / "kubernetes/nightly.yaml") if one["kind"] == "ConfigMap")
    path = tmp_path / "nightly.yaml"
    path.write_text(config["data"]["nightly.yaml"])
    assert load_config(path).sources[0].name == "docs"


def test_the_dags_parse_and_run_the_command_once_at_a_time():
    text = (DEPLOY / "airflow/parquetry_dag.py").read_text()
    tree = ast.parse(text)
    names = {
        call.args[0].value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "DAG"
    }
    assert names == {"parquetry_nightly", "parquetry_backfill"}
    assert '"max_active_runs": 1' in text


def test_lines_of_cron_have_a_time_a_user_and_the_command():
    lines = (DEPLOY / "cron/parquetry").read_text().splitlines()
    jobs = [
        line.split()
        for line in lines
        if line and not line.startswith("#") and not re.match(r"[A-Z_]+=", line)
    ]
    assert len(jobs) == 2
    for job in jobs:
        assert all(re.fullmatch(r"\*|\d+", part) for part in job[:5])
        assert job[5:7] == ["parquetry", "/opt/parquetry/.venv/bin/parquetry"]
        assert "%" not in job
