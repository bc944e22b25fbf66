"""Exports of a table with a history: what a store holds after changes is what a whole export would bring."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stores.exports.reading import HOLDINGS
from tests.stores.history import at, rows
from transforms.exports.export import Wishes, check, export
from transforms.exports.registry import NAMES, find_profile
from transforms.model.errors import ConfigError
from transforms.storage.local import LocalStore
from transforms.table.history import vacuum

CHANGING = sorted(set(HOLDINGS) - {"vdf"})
WAYS = [(1, 3), (3, 4), (4, 1), (2, 2)]


def exported(table: Path, profile: str, to: Path, since: int | None = None, **wishes):
    return export(str(table), find_profile(profile), Wishes(str(to), since=since, **wishes))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("profile", HOLDINGS)
def test_a_whole_export_keeps_the_rules_and_holds_every_row(profile, table, tmp_path):
    at(table, 2)
    manifest = exported(table, profile, tmp_path / "out")
    assert list(check(find_profile(profile), str(tmp_path / "out"))) == []
    held = HOLDINGS[profile](tmp_path / "out", {})
    expected = rows(table, 2)
    assert held.keys() == expected.keys()
    assert {key: record[0] for key, record in held.items()} == {
        key: row["embedding"] for key, row in expected.items()
    }
    assert (manifest.upserts, manifest.deletes, manifest.refused) == (len(expected), 0, {})


@pytest.mark.parametrize("profile", CHANGING)
@pytest.mark.parametrize(("since", "number"), WAYS)
def test_an_older_export_and_the_changes_are_the_newer_one(profile, since, number, table, tmp_path):
    at(table, since)
    exported(table, profile, tmp_path / "old")
    at(table, number)
    exported(table, profile, tmp_path / "new")
    exported(table, profile, tmp_path / "changes", since=since)
    assert list(check(find_profile(profile), str(tmp_path / "changes"))) == []
    holding = HOLDINGS[profile]
    assert holding(tmp_path / "changes", holding(tmp_path / "old", {})) == holding(tmp_path / "new", {})


@pytest.mark.parametrize("profile", CHANGING)
def test_changes_may_be_loaded_twice(profile, table, tmp_path):
    at(table, 1)
    exported(table, profile, tmp_path / "old")
    at(table, 3)
    exported(table, profile, tmp_path / "changes", since=1)
    holding = HOLDINGS[profile]
    once = holding(tmp_path / "changes", holding(tmp_path / "old", {}))
    assert holding(tmp_path / "changes", once) == once


@pytest.mark.parametrize("profile", NAMES)
def test_the_same_export_has_the_same_bytes(profile, table, tmp_path):
    exported(table, profile, tmp_path / "out")
    first = contents(tmp_path / "out")
    exported(table, profile, tmp_path / "out")
    assert contents(tmp_path / "out") == first


@pytest.mark.parametrize("profile", HOLDINGS)
def test_an_export_over_an_older_one_leaves_nothing_of_it(profile, table, tmp_path):
    at(table, 3)
    exported(table, profile, tmp_path / "fresh")
    at(table, 1)
    exported(table, profile, tmp_path / "out")
    at(table, 3)
    exported(table, profile, tmp_path / "out")
    assert HOLDINGS[profile](tmp_path / "out", {}) == HOLDINGS[profile](tmp_path / "fresh", {})
    fresh = contents(tmp_path / "fresh")
    fresh.pop("README.md")
    assert contents(tmp_path / "out").keys() - {"README.md"} == fresh.keys()


def test_the_manifest_names_every_file_with_its_size_and_hash(table, tmp_path):
    import hashlib

    manifest = exported(table, "vertex", tmp_path / "out")
    held = contents(tmp_path / "out")
    named = {file.path: (file.bytes, file.sha256) for file in manifest.files}
    assert named == {
        path: (len(data), hashlib.sha256(data).hexdigest())
        for path, data in held.items()
        if path not in ("export.json", "README.md")
    }
    assert json.loads(held["export.json"])["snapshot"] == 1


@pytest.mark.parametrize("profile", ["bigquery", "vertex"])
def test_only_the_sources_that_were_asked_for_are_exported(profile, table, tmp_path):
    at(table, 2)
    exported(table, profile, tmp_path / "out", sources=("Notes & more",))
    found = HOLDINGS[profile](tmp_path / "out", {})
    assert found.keys() == {
        key for key, row in rows(table, 2).items() if row["source_name"] == "Notes & more"
    }


def test_changes_across_models_are_refused(table, tmp_path):
    at(table, 5)
    with pytest.raises(ConfigError, match=r"Snapshot 4 has vectors of 16 numbers.*snapshot 5 of 24"):
        exported(table, "vertex", tmp_path / "out", since=4)
    assert not (tmp_path / "out").exists()


def test_changes_from_a_snapshot_that_was_removed_are_refused(table, tmp_path):
    import datetime

    at(table, 3)
    vacuum(LocalStore(str(table)), keep=1, grace=datetime.timedelta(0))
    with pytest.raises(Exception, match="no published snapshot 1"):
        exported(table, "vertex", tmp_path / "out", since=1)


@pytest.mark.parametrize("profile", ["vdf", "delta"])
def test_a_format_without_changes_says_so(profile, table, tmp_path):
    with pytest.raises(ConfigError, match="--since is of no use"):
        exported(table, profile, tmp_path / "out", since=1)


def test_a_place_that_holds_something_else_is_left_alone(table, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="is not empty, and no export"):
        exported(table, "vertex", tmp_path)
    exported(table, "vertex", tmp_path / "out")
    with pytest.raises(ConfigError, match="holds an export for vertex"):
        exported(table, "vespa", tmp_path / "out")
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"columns": ("tixt",)}, "no column tixt; did you mean text"),
        ({"sources": ("nobody",)}, "no source called nobody"),
        ({"model": "other@1"}, "no vector of model other@1"),
        ({"name": "a/b"}, "is no name of a collection"),
        ({"since": 9}, "no published snapshot 9"),
    ],
)
def test_a_wish_that_cannot_be_met_is_refused_before_anything_is_written(wishes, message, table, tmp_path):
    with pytest.raises(Exception, match=message):
        exported(table, "pinecone", tmp_path / "out", **wishes)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("profile", HOLDINGS)
def test_a_killed_export_is_not_complete_and_is_done_again(profile, table, tmp_path):
    exported(table, profile, tmp_path / "fresh")
    exported(table, profile, tmp_path / "out")

    def die(_rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(str(table), find_profile(profile), Wishes(str(tmp_path / "out")), die)
    assert not (tmp_path / "out/export.json").exists()
    assert (tmp_path / "out/export.unfinished.json").exists()
    exported(table, profile, tmp_path / "out")
    again, fresh = contents(tmp_path / "out"), contents(tmp_path / "fresh")
    assert {path: data for path, data in again.items() if path != "README.md"} == {
        path: data for path, data in fresh.items() if path not in ("README.md", "load.sql")
    } | ({"load.sql": again["load.sql"]} if "load.sql" in again else {})


def test_an_export_that_is_killed_by_the_system_is_not_complete(table, tmp_path):
    script = (
        "import os, signal, sys\n"
        "from transforms.exports.export import Wishes, export\n"
        "from transforms.exports.registry import find_profile\n"
        "export(sys.argv[1], find_profile('vertex'), Wishes(sys.argv[2]),\n"
        "       lambda rows: os.kill(os.getpid(), signal.SIGKILL))\n"
    )
    command = [sys.executable, "-c", script, str(table), str(tmp_path / "out")]
    ended = subprocess.run(command, check=False, env=os.environ | {"PYTHONPATH": str(Path.cwd())})
    assert ended.returncode == -signal.SIGKILL
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["export.unfinished.json"]
    faults = [(fault.path, fault.rule) for fault in check(find_profile("vertex"), str(tmp_path / "out"))]
    assert faults[0] == ("export.unfinished.json", "incomplete")
    exported(table, "vertex", tmp_path / "out")
    assert list(check(find_profile("vertex"), str(tmp_path / "out"))) == []
