"""Where other machines work on a job: whole paths, and no folder that they do not see."""

import pytest

from pipeline.config import JobConfig
from pipeline.elsewhere import check_reach, for_workers, only_writes_template
from pipeline.job import make_job
from pipeline.preflight import check_job
from transforms.model.errors import ConfigError

DATAFLOW = ["--runner=DataflowRunner"]


def config(table: str, root: str) -> JobConfig:
    return JobConfig.model_validate(
        {"table": table, "embedder": {"kind": "hash"}, "sources": [{"name": "docs", "root": root}]}
    )


def test_a_worker_gets_folders_as_whole_paths_and_buckets_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    job = for_workers(make_job(config("table", "file://pages/../more"), "r", 1, None))
    assert (job.table, job.sources[0].root) == (f"{tmp_path}/table", f"file://{tmp_path}/pages/../more")
    job = for_workers(make_job(config("gs://bucket/table", "/srv/pages"), "r", 1, None))
    assert (job.table, job.sources[0].root) == ("gs://bucket/table", "/srv/pages")


def test_a_folder_is_refused_where_dataflow_would_look_for_it_on_its_own_machines(tmp_path):
    with pytest.raises(
        ConfigError, match=r"/srv/pages is a folder of this machine, which workers of Dataflow"
    ):
        check_reach("/srv/pages", DATAFLOW)
    check_reach("gs://bucket/pages", DATAFLOW)
    check_reach("/srv/pages", ["--runner=FlinkRunner"])
    check_reach("/srv/pages", [])
    with pytest.raises(ConfigError) as caught:
        check_job(config(str(tmp_path / "table"), str(tmp_path)), DATAFLOW)
    assert str(caught.value).count("which workers of Dataflow do not see") == 2


def test_a_pipeline_that_is_only_written_down_is_told_from_one_that_runs():
    assert only_writes_template([*DATAFLOW, "--template_location=gs://bucket/job"])
    assert not only_writes_template(DATAFLOW)
    assert not only_writes_template([])
