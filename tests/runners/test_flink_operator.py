"""Flink's operator for Kubernetes knows every field of what deploy/ gives it, by the definition inside its jar."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import yaml

from tests.support.get_engines import HOME

MANIFEST = Path(__file__).parents[2] / "deploy/kubernetes/flink.yaml"
DEFINITION = "META-INF/fabric8/flinkdeployments.flink.apache.org-v1.yml"
TYPES = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "object": dict,
    "array": list,
}


@pytest.fixture(scope="module")
def schema(got):
    """The schema of a FlinkDeployment."""
    got("operator")
    (jar,) = (HOME / "operator").glob("*.jar")
    with zipfile.ZipFile(jar) as opened:
        definition = yaml.safe_load(opened.read(DEFINITION))
    (version,) = definition["spec"]["versions"]
    return version["schema"]["openAPIV3Schema"]


def faults(value, schema, place):
    """What the definition does not know or would not take."""
    if schema.get("x-kubernetes-preserve-unknown-fields") or schema.get("x-kubernetes-int-or-string"):
        return
    wanted = schema.get("type")
    if wanted and not isinstance(value, TYPES[wanted]):
        yield f"{place}: {value!r} is no {wanted}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is none of {schema['enum']}"
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from faults(one, schema["items"], f"{place}[{number}]")
    elif isinstance(value, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        for name, one in value.items():
            if name in known or others:
                yield from faults(one, known.get(name) or others, f"{place}.{name}")
            elif place != "metadata":
                yield f"{place}.{name} is unknown"


def test_the_operator_knows_every_field(schema):
    (deployment,) = (
        one for one in yaml.safe_load_all(MANIFEST.read_text()) if one["kind"] == "FlinkDeployment"
    )
    assert list(faults(deployment["spec"], schema["properties"]["spec"], "spec")) == []
    wrong = deployment["spec"] | {"flinkVersion": "v0_1", "taskManagers": 2}
    assert len(list(faults(wrong, schema["properties"]["spec"], "spec"))) == 2
