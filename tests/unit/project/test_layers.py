"""Which package may import which: the layers of ARCHITECTURE.md, read from the source."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

LAYERS = (
    {"transforms.model"},
    {"transforms.structure", "transforms.storage", "transforms.pages", "transforms.evaluation"},
    {"transforms.embedders", "transforms.extractors", "transforms.compose"},
    {"transforms.sparse"},
    {"transforms.table"},
    {"transforms.chunkers", "transforms.retrieval"},
    {"transforms.planning"},
    {"transforms.loaders"},
    {"transforms.exports"},
    {"transforms.report"},
    {"transforms.stages"},
    {"transforms"},
    {"pipeline"},
)
"""From the bottom to the top; ``transforms`` stands for its own modules, the Beam transforms."""

RANK = {package: rank for rank, layer in enumerate(LAYERS) for package in layer}

MODULES = sorted(
    path.relative_to(ROOT)
    for package in ("transforms", "pipeline")
    for path in (ROOT / package).rglob("*.py")
)


def layer_of(module: str) -> str:
    package, *rest = module.split(".")
    below = ".".join([package, *rest[:1]])
    is_folder = package == "transforms" and (ROOT / below.replace(".", "/")).is_dir()
    return below if is_folder or below in RANK else package


def module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def imports(source: str) -> Iterator[str]:
    """Every module that a source imports when it runs, early or late; not what only types need."""
    pending: list[ast.AST] = [ast.parse(source)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the layer"
            assert node.module is not None
            yield node.module
        pending += ast.iter_child_nodes(node)


def test_imports_are_found_wherever_they_stand_but_for_those_of_types() -> None:
    source = (
        "import a.b\nfrom c import d\nif TYPE_CHECKING:\n    import e\nelse:\n    import f\n"
        "def g():\n    from h.i import j\n"
    )
    assert sorted(imports(source)) == ["a.b", "c", "f", "h.i"]


@pytest.mark.parametrize(
    ("module", "layer"),
    [
        ("transforms.model.ids", "transforms.model"),
        ("transforms.compose", "transforms.compose"),
        ("transforms.embed", "transforms"),
        ("transforms.chunkers.verbatim", "transforms.chunkers"),
        ("pipeline.config.load", "pipeline"),
    ],
)
def test_a_module_lies_in_the_layer_of_its_package(module: str, layer: str) -> None:
    assert layer_of(module) == layer


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_module_imports_from_its_own_package_and_from_layers_below(path: Path) -> None:
    own = layer_of(module_name(path))
    assert own in RANK, f"{own} has no place in LAYERS"
    found = {layer_of(name) for name in imports((ROOT / path).read_text()) if name.split(".")[0] in RANK}
    above = {layer for layer in found - {own} if RANK[layer] >= RANK[own]}
    assert above == set()


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_beam_is_imported_by_the_transforms_and_the_pipeline_alone(path: Path) -> None:
    names = {name.split(".")[0] for name in imports((ROOT / path).read_text())}
    if layer_of(module_name(path)) not in {"transforms", "pipeline"}:
        assert "apache_beam" not in names


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_what_is_shipped_imports_no_test_and_no_benchmark(path: Path) -> None:
    names = {name.split(".")[0] for name in imports((ROOT / path).read_text())}
    assert not names & {"tests", "benchmarks", "pytest", "hypothesis"}
