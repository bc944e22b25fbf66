"""What is read out of reStructuredText."""

import pytest

from transforms.extractors.rst import extract_rst, role_text
from transforms.extractors.rst_directives import Directive, parse_directive
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import Document
from transforms.model.errors import RejectedError


def read(source: str) -> Document:
    return extract_rst(source.encode(), "a.rst", ExtractSettings())


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Top\n===\n\nText.\n\nSub\n---\n\nMore.\n", "# Top\n\nText.\n\n## Sub\n\nMore.\n"),
        ("- a\n\n  - b\n\n- c\n", "- a\n  - b\n- c\n"),
        ("3. c\n4. d\n", "3. c\n4. d\n"),
        ("Run::\n\n    # code\n    go\n", "Run:\n\n```\n# code\ngo\n```\n"),
        (".. code-block:: sh\n\n   go\n", "```sh\ngo\n```\n"),
        (".. code-block:: sh\n   :emphasize-lines: 1\n\n   go\n", "```sh\ngo\n```\n"),
        (".. note:: Mind *it*.\n", "Note: Mind it.\n"),
        ("term\n  Meaning.\n", "term\nMeaning.\n"),
        (":Name: value\n", "- Name: value\n"),
        ("-a, --all  Does all.\n", "- -a, --all: Does all.\n"),
        ("| one\n| two\n", "one\ntwo\n"),
        ("Text [1]_.\n\n.. [1] Note.\n", "Text [^1].\n\n[^1]: Note.\n"),
        ("A |x| here.\n\n.. |x| replace:: word\n", "A word here.\n"),
        ("`Link <https://x.example>`_ and ``code``.\n", "Link and code.\n"),
        (".. image:: a.png\n   :alt: A pump\n", "A pump\n"),
        (".. a comment\n\nText.\n", "Text.\n"),
        (".. _target:\n\nText.\n", "Text.\n"),
    ],
)
def test_common_marks_become_markdown(source: str, text: str) -> None:
    assert read(source).text == text


def test_merged_cells_are_repeated() -> None:
    grid = "+---+---+\n| a | b |\n+===+===+\n| wide  |\n+---+---+\n| t | e |\n|   +---+\n|   | f |\n+---+---+\n"
    assert read(grid).text == "| a | b |\n| --- | --- |\n| wide | wide |\n| t | e |\n| t | f |\n"


def test_two_rows_above_the_double_line_are_one_head() -> None:
    rule = "====  ===  =====\n"
    simple = f"{rule}Part  Price\n----  ----------\nName  net  gross\n{rule}bolt  1    2\n{rule}"
    assert (
        read(simple).text
        == "| Part Name | Price net | Price gross |\n| --- | --- | --- |\n| bolt | 1 | 2 |\n"
    )


def test_what_sphinx_adds_keeps_its_text() -> None:
    source = (
        "See :ref:`the guide <guide>` and :func:`~rover.drive`.\n\n"
        ".. versionadded:: 1.2\n   Adds *stuff*:\n\n   - one\n\n"
        ".. py:function:: drive(speed)\n   :no-index:\n\n   Drives.\n\n   .. tip:: Slowly.\n"
    )
    assert read(source).text == (
        "See the guide and rover.drive.\n\nNew in version 1.2\n\nAdds stuff:\n\n- one\n\n"
        "drive(speed)\n\nDrives.\n\nTip: Slowly.\n"
    )


@pytest.mark.parametrize(
    "directive",
    [
        ".. include:: /etc/passwd",
        ".. raw:: html\n\n   <b>x</b>",
        ".. toctree::\n\n   a\n   b",
        ".. contents::",
        ".. csv-table::\n   :file: /etc/passwd",
        ".. literalinclude:: /etc/passwd",
        ".. raw:: html\n   :file: /etc/passwd",
    ],
)
def test_no_file_is_read_and_no_list_of_files_is_text(directive: str) -> None:
    assert "root:" not in read(f"Text.\n\n{directive}\n").text
    assert read(f"Text.\n\n{directive}\n").text.startswith("Text.\n")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (":ref:`a <b>`", "a"),
        (":c:func:`x`", "x"),
        ("`x`:role:", "x"),
        (":ref:`<b>`", "<b>"),
        ("broken", "broken"),
    ],
)
def test_a_role_is_its_text(source: str, text: str) -> None:
    assert role_text(source) == text


def test_a_directive_is_taken_apart_from_its_source() -> None:
    assert parse_directive(".. option:: -v\n   :x: y\n\n   More.\n\n     Deep.\n") == Directive(
        "-v", "More.\n\n  Deep."
    )
    assert parse_directive(".. toctree::\n\n   a") is None
    assert parse_directive("no directive") is None


def test_directives_nested_without_end_do_not_end_the_worker() -> None:
    source = (
        "".join("   " * depth + f".. unknown:: {depth}\n\n" for depth in range(40)) + "   " * 40 + "Core.\n"
    )
    assert "unknown:: 39" in read(source).text


def test_a_file_of_comments_has_no_text() -> None:
    with pytest.raises(RejectedError, match="no_text"):
        read(".. only a comment\n")
