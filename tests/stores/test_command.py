"""``parquetry load`` as a person calls it: sentences, exit codes, settings in a file."""

import json
import subprocess
import sys

import duckdb
import pytest

from pipeline.cli import main
from tests.stores.history import at, rows


@pytest.fixture
def call(table, tmp_path, monkeypatch, capfd):
    """Call the command for the table; exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr("sys.argv", ["parquetry", "load", "table", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capfd.readouterr()
        return end.value.code or 0, said.out, said.err

    return call


def test_what_was_done_is_said_in_a_sentence(call, table):
    at(table, 1)
    count = len(rows(table, 1))
    code, out, _ = call("--to", "duckdb:x.duckdb")
    assert code == 0
    assert out.startswith(
        f"Loaded snapshot 1 into duckdb:x.duckdb#chunks in full, because there was no such collection: {count:,} rows."
    )
    at(table, 2)
    code, out, _ = call("--to", "duckdb:x.duckdb")
    assert code == 0
    assert out.startswith("Loaded the changes from snapshot 1 to 2 into duckdb:x.duckdb#chunks: ")
    assert out.rstrip().split(", ")[-1].startswith(f"{len(rows(table, 2)):,} there now.")
    code, out, _ = call("--to", "duckdb:x.duckdb")
    assert out.startswith("Nothing to load: duckdb:x.duckdb#chunks holds snapshot 2 already")


def test_what_a_store_does_not_take_is_said_when_the_collection_is_made(call, table):
    at(table, 1)
    code, out, _ = call("--to", "sqlite:x.db")
    assert code == 0
    assert "because sqlite-vec takes none; its index of words over text is in their place." in out
    assert "left out" not in call("--to", "sqlite:x.db")[1]


def test_a_store_says_nothing_of_its_own_when_a_collection_is_made(table, tmp_path):
    at(table, 1)
    words = ("load", str(tmp_path / "table"), "--to", f"lancedb:{tmp_path}/lance")
    said = subprocess.run(
        [sys.executable, "-m", "pipeline.cli", *words], capture_output=True, text=True, check=True
    )
    assert said.stdout.startswith("Loaded snapshot 1 into lancedb:")
    assert said.stderr == ""


def test_settings_stand_in_a_file_and_the_command_line_wins(call, table, tmp_path, monkeypatch):
    at(table, 1)
    monkeypatch.setenv("PLACE", "x.duckdb")
    settings = "to: duckdb:${PLACE}#pages\ncolumns: {text: body}\nsources: [manual]\n"
    (tmp_path / "load.yaml").write_text(settings)
    code, out, _ = call(
        "--to", "load.yaml", "--source", "Notes & more", "--filter", "chunk_index<1", "--json"
    )
    assert code == 0
    done = json.loads(out)
    expected = {
        row["text"]
        for row in rows(table, 1).values()
        if row["source_name"] == "Notes & more" and row["chunk_index"] < 1
    }
    assert (done["kind"], done["collection"], done["rows"]) == ("full", "pages", len(expected))
    assert done["to"] == "duckdb:x.duckdb"
    with duckdb.connect("x.duckdb", read_only=True) as db:
        assert {text for (text,) in db.execute("SELECT body FROM pages").fetchall()} == expected


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--to", "duckd:x"], 2, "There is no loader for duckd:; did you mean duckdb:?"),
        (["--to", "foo:x"], 2, "There is no loader for foo:. There are chdb, "),
        (["--to", "x.duckdb"], 2, "is no address of a store"),
        (["--to", "none.yaml"], 2, "There is no configuration file none.yaml"),
        (["--to", "duckdb:x", "--filter", "titel=a"], 2, "has no column titel to filter by"),
        (["--to", "duckdb:x", "--source", "others"], 2, "The table has no source called others"),
        (["--to", "duckdb:x", "--switch"], 2, "`switch` needs `into`"),
        (["--to", "duckdb:x", "--full", "--since", "1"], 2, "one of them"),
        (["--to", "lancedb:x", "--into", "b", "--switch"], 2, "LanceDB has no aliases"),
        (["--to", "duckdb:none/x.duckdb"], 2, "there is no folder none"),
        (
            ["--to", "postgresql://me:hushhush@127.0.0.1:1/x"],
            1,
            "postgresql://me:***@127.0.0.1:1/x cannot be opened",
        ),
    ],
)
def test_what_cannot_be_done_ends_in_a_sentence_and_a_code(call, table, words, code, message):
    at(table, 1)
    ended, out, err = call(*words)
    assert (ended, out) == (code, "")
    assert err.startswith("parquetry: ")
    assert message in err
    assert "Traceback" not in err
    assert "hushhush" not in err


def test_rows_of_others_are_refused_with_the_code_of_a_guard(call, table):
    at(table, 1)
    with duckdb.connect("x.duckdb") as db:
        db.execute("CREATE TABLE chunks (a INTEGER)")
    code, _, err = call("--to", "duckdb:x.duckdb")
    assert code == 4
    assert "no load has made it" in err
    assert call("--to", "duckdb:x.duckdb", "--adopt")[0] == 0


def test_all_faults_of_a_file_are_told_at_once_and_no_secret(call, table, tmp_path, monkeypatch):
    at(table, 1)
    monkeypatch.setenv("WORD", "hushhush")
    (tmp_path / "load.yaml").write_text(
        "to: duckdb:x\nmetrik: dot\nbatch: 0\nmetric: ${WORD}\ninto: ${MISSING}\n"
    )
    code, _, err = call("--to", "load.yaml")
    assert code == 2
    assert "metrik: is no key here; did you mean `metric`?" in err
    assert "batch: Input should be greater than or equal to 1" in err
    assert "into: the environment variable MISSING is not set" in err
    assert "hushhush" not in err
