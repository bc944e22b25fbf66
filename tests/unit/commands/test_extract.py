"""The exit code of `extract`: whether each file that was named could be read."""

import io
import json

from pipeline.commands import extract


def printed(*paths):
    out = io.StringIO()
    code = extract.run([str(path) for path in paths], out)
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


def test_files_that_can_be_read_are_no_fault_whatever_is_in_them(tmp_path):
    (tmp_path / "a.txt").write_text("A text about pumps.\n")
    (tmp_path / "b.json").write_text("{broken")
    code, lines = printed(tmp_path / "a.txt", tmp_path / "b.json")
    assert code == 0
    assert [line["reason"] for line in lines] == [None, "corrupt"]


def test_a_file_that_is_not_there_and_a_folder_are_told_and_the_others_are_read(tmp_path):
    (tmp_path / "a.txt").write_text("A text about pumps.\n")
    code, lines = printed(tmp_path / "gone.txt", tmp_path, tmp_path / "a.txt")
    assert code == 1
    assert [(line["outcome"], line["reason"]) for line in lines][2] == ("ok", None)
    assert [line["reason"] for line in lines][:2] == ["unreadable", "unreadable"]
    assert str(tmp_path / "gone.txt") in lines[0]["detail"]
