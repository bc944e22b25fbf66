"""The command ``export`` as people call it."""

import json
import re
from pathlib import Path

import pytest

from pipeline import cli
from tests.stores.exports.conftest import row
from transforms.exports.registry import NAMES, find_profile

DOCS = Path(__file__).parents[3] / "docs/exporting.md"


@pytest.fixture
def called(monkeypatch, capsys):
    """Exit code and what was printed."""

    def call(*words):
        monkeypatch.setattr("sys.argv", ["parquetry", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call


def test_an_export_says_what_it_holds_and_what_was_left_out(called, table_of, tmp_path):
    table = table_of([row("a"), row("b", text="a\0b"), row("c", embedding=None)])
    code, out, _ = called(
        "export", table, "--profile", "vespa", "--to", tmp_path / "out", "--max-refused-share", "1"
    )
    assert code == 0
    assert re.fullmatch(
        r"Export for Vespa to snapshot 1: 1 rows in 3 files, [\d,]+ bytes\. .*README\.md says how to load them\.\n"
        r"left out because of  rows\ncharacter               1\nno_vector               1\n",
        out,
    )


def test_too_many_rows_that_a_store_cannot_take_are_exit_code_3(called, table_of, tmp_path):
    table = table_of([row("a"), row("b", embedding=None)])
    code, _, err = called("export", table, "--profile", "vespa", "--to", tmp_path / "out")
    assert (code, "would refuse 1 of 2 rows (no_vector 1)" in err) == (3, True)


def test_json_is_the_manifest(called, table_of, tmp_path):
    code, out, _ = called(
        "export", table_of([row("a")]), "--profile", "vdf", "--to", tmp_path / "out", "--json"
    )
    assert code == 0
    assert json.loads(out) == json.loads((tmp_path / "out/export.json").read_text())


def test_a_check_names_faults_and_ends_with_1(called, table_of, tmp_path):
    called("export", table_of([row("a")]), "--profile", "vertex", "--to", tmp_path / "out")
    assert called("export", tmp_path / "out", "--profile", "vertex", "--check") == (
        0,
        f"{tmp_path}/out keeps the rules of Vertex AI Vector Search.\n",
        "",
    )
    (tmp_path / "out/batch_root/more.csv.gz").write_bytes(b"")
    code, out, _ = called("export", tmp_path / "out", "--profile", "vertex", "--check")
    assert code == 1
    assert out.startswith("more.csv.gz: layout: has no place here")
    code, out, _ = called("export", tmp_path / "out", "--profile", "vertex", "--check", "--json")
    assert (code, [each["rule"] for each in json.loads(out)]) == (1, ["layout"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--profile", "pinecome"), "There is no profile pinecome; did you mean pinecone?"),
        (("--profile", "foo"), "There is no profile foo. There are azure-search, "),
        (("--profile", "pinecone"), "--to is missing"),
        (
            ("--profile", "pinecone", "--to", "x", "--check"),
            "`parquetry export x --profile pinecone --check` checks that folder",
        ),
        (
            ("--profile", "pinecone", "--to", "x", "--since", "1", "--full"),
            "--full and --since exclude each other",
        ),
    ],
)
def test_a_call_that_makes_no_sense_is_exit_code_2(words, message, called, table_of):
    code, _, err = called("export", table_of([row("a")]), *words)
    assert (code, message in err) == (2, True)


@pytest.mark.parametrize("profile", NAMES)
def test_the_documentation_has_a_command_and_the_sources_of_each_profile(profile):
    text = DOCS.read_text(encoding="utf-8")
    assert f"--profile {profile} " in text
    assert f"| `{profile}` |" in text
    for source in find_profile(profile).sources:
        assert source in text
