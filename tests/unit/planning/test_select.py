"""Which names `include` and `exclude` let pass."""

import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcmatch import glob

from transforms.planning.select import expression_of, selected_of


def selector(include, exclude):
    return lambda name: selected_of(pa.array([name]), include, exclude).tolist() == [True]


@pytest.mark.parametrize(
    ("include", "exclude", "name", "wanted"),
    [
        (["**"], [], "a/b/c.md", True),
        (["**"], [], "c.md", True),
        (["*.md"], [], "a/c.md", False),
        (["**/*.md"], [], "c.md", True),
        (["**/*.md"], [], "C.MD", False),
        (["**"], ["**/.*"], "a/.hidden", False),
        (["**"], ["drafts/**"], "drafts/x/y.md", False),
        (["a\\*b.md"], [], "a*b.md", True),
        (["a\\*b.md"], [], "axb.md", False),
        (["**"], [], "what?#%[1].md", True),
        (["**"], [], "new\nline.md", True),
        (["docs/*.{md,txt}"], [], "docs/a.txt", False),
    ],
)
def test_names_are_selected_by_globs(include, exclude, name, wanted):
    assert selector(include, exclude)(name) is wanted


def test_empty_segments_are_passed_over_at_the_beginning_too():
    assert selector(["*.md"], [])("/a.md")
    assert selector(["docs/*.md"], [])("docs//a.md")
    assert not selector(["**"], ["*.md"])("/a.md")


_PIECES = [
    "**/",
    "/**",
    "**",
    "*",
    "?",
    "a",
    "b",
    "/",
    ".",
    "~$",
    "\\*",
    "\\a",
    "\n",
    "\u00e9",
    " ",
    "[ab]",
    "!",
]
_PATTERN = st.lists(st.sampled_from(_PIECES), min_size=1, max_size=5).map("".join)
_DOTS = re.compile(r"(?:(?<=/)|^)\.{1,2}(?=/|$)")
# Segments of dots alone match nothing of wcmatch; here they are names.
_NAME = st.text(st.sampled_from("ab./ ~$\n\u00e9*?!"), min_size=1, max_size=8).map(
    lambda n: _DOTS.sub("b", n)
)
_FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.CASE | glob.FORCEUNIX


@given(st.lists(_PATTERN, min_size=1, max_size=2), st.lists(_NAME, min_size=1, max_size=12))
def test_columns_are_matched_as_wcmatch_matches_each_name(patterns, names):
    expected = [bool(glob.globmatch(name.lstrip("/"), patterns, flags=_FLAGS)) for name in names]
    assert selected_of(pa.array(names), patterns, []).tolist() == expected


@pytest.mark.parametrize(
    "name", ["up/../b.md", "./b.md", "a//../b.md", "../b.md", "a/./b.md", "../\n/b.md"]
)
def test_segments_of_dots_alone_are_names_of_a_bucket_like_others(name):
    def selects(*include, exclude=()):
        return selected_of(pa.array([name]), include, exclude).tolist() == [True]

    assert selects("**")
    assert selects("**/*.md")
    assert selects("**/[ab].md")
    assert selects("**/*/*.md")
    # They begin with a dot, as what is hidden does.
    assert not selects("**", exclude=["**/.*/**"])
    assert not selects("**/[x].md")


def test_usual_patterns_are_looked_for_in_whole_columns_and_sets_are_not():
    usual = ["**", "**/.*", "**/.*/**", "**/~$*", "docs/**/*.md", "a?c.txt", "a\\*b"]
    assert all(expression_of(pattern) for pattern in usual)
    assert not any(expression_of(pattern) for pattern in ["[ab].md", "*.{md,txt}", "+(a)", "a**b", "a//b"])
