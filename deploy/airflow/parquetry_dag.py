"""Airflow 2.9 and newer, and Cloud Composer: the nightly run, and a backfill that a person starts with parameters.

A pod runs `parquetry run`, which hands the work to Dataflow, waits for it, and ends with the job's own exit
code, so that a refusal of a guard is a failed task and its sentence the last line of the log. Names of the
project are Airflow variables: `parquetry_image`, `parquetry_project`, `parquetry_region`, `parquetry_bucket`.
"""

from __future__ import annotations

import datetime

from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator

try:
    from airflow.sdk import DAG, Param
except ImportError:  # Airflow 2
    from airflow import DAG
    from airflow.models.param import Param

IMAGE = "{{ var.value.parquetry_image }}"
BUCKET = "{{ var.value.parquetry_bucket }}"
ON_DATAFLOW = [
    "--",
    "--runner=DataflowRunner",
    "--project={{ var.value.parquetry_project }}",
    "--region={{ var.value.parquetry_region }}",
    f"--temp_location=gs://{BUCKET}/dataflow",
    f"--sdk_container_image={IMAGE}",
    "--sdk_location=container",
    "--max_num_workers=10",
    "--machine_type=n2-standard-4",
]
EVERY_RUN = {
    "start_date": datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    "catchup": False,
    # The table has one writer; a second run would be refused.
    "max_active_runs": 1,
    "tags": ["parquetry"],
}
EVERY_TASK = {
    "image": IMAGE,
    "cmds": ["parquetry"],
    "env_vars": {"CORPUS_BUCKET": BUCKET, "TABLE_BUCKET": BUCKET},
    "get_logs": True,
    # Work that is done is not done again, and a guard refuses again within a minute.
    "retries": 2,
    "retry_delay": datetime.timedelta(minutes=10),
    "execution_timeout": datetime.timedelta(hours=12),
}


def run(config: str, *words: str) -> list[str]:
    """The words behind `parquetry`; configurations are mounted or built into the image at /configs."""
    return ["run", f"/configs/{config}.yaml", "--json-logs", *words, *ON_DATAFLOW]


with DAG("parquetry_nightly", schedule="0 2 * * *", **EVERY_RUN) as nightly:
    KubernetesPodOperator(task_id="run", name="parquetry-nightly", arguments=run("nightly"), **EVERY_TASK)

with DAG(
    "parquetry_backfill",
    schedule=None,
    params={
        "prefix": Param("", type="string", description="Only objects whose names begin so."),
        "max_cost": Param(
            10.0, type="number", minimum=0, description="US dollars for an embedding server."
        ),
    },
    **EVERY_RUN,
) as backfill:
    KubernetesPodOperator(
        task_id="run",
        name="parquetry-backfill",
        arguments=run(
            "nightly", "--full", "--prefix={{ params.prefix }}", "--max-cost={{ params.max_cost }}"
        ),
        **EVERY_TASK,
    )
