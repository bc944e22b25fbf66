"""What Airflow makes of a folder of DAGs, as JSON: for a Python that has Airflow and nothing of this project.

Expressions in double braces are filled in as for a run, from Airflow's variables and the DAG's parameters, or what
a person gives in their place.
"""

from __future__ import annotations

import inspect
import json
import sys

import airflow

try:
    from airflow.dag_processing.dagbag import DagBag
except ImportError:  # Airflow 2
    from airflow.models import DagBag


def main(folder: str, variables: dict[str, str], given: dict) -> None:
    known = {"include_examples": False, "load_op_links": False}
    taken = inspect.signature(DagBag.__init__).parameters
    bag = DagBag(folder, **{name: value for name, value in known.items() if name in taken})
    dags = {name: _described(dag, variables, given) for name, dag in bag.dags.items()}
    print(json.dumps({"version": airflow.__version__, "errors": bag.import_errors, "dags": dags}))


def _described(dag, variables: dict[str, str], given: dict) -> dict:
    context = {"var": {"value": variables}, "params": dag.params.dump() | given}
    return {
        "schedule": dag.schedule if hasattr(dag, "schedule") else dag.schedule_interval,
        "catchup": dag.catchup,
        "max_active_runs": dag.max_active_runs,
        "tasks": {task.task_id: _filled(task, context) for task in dag.tasks},
    }


def _filled(task, context: dict) -> dict:
    """What a pod is started with."""
    task.render_template_fields(context)
    return {
        "kind": type(task).__name__,
        "retries": task.retries,
        "image": task.image,
        "cmds": task.cmds,
        "arguments": task.arguments,
        "env": {one.name: one.value for one in task.env_vars},
    }


if __name__ == "__main__":
    main(sys.argv[1], *map(json.loads, sys.argv[2:]))
