import pytest

from transforms.planning.select import selector


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
