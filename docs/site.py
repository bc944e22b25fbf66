"""What the site has besides the pages of this folder: pages and files from elsewhere in the repository.

A hook of MkDocs. Pages link to files as they lie in a clone; on the site those files lie beside the pages.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "benchmarks/README.md": "benchmarks.md",
    "README.md": "index.md",
    "docs/decisions": "decisions/index.md",
    "configs": "configs/demo.yaml",
}
"""Where the site has what lies elsewhere in a clone."""
_LINK = re.compile(r"(\]\()([^)#\s:]+)([^)\s]*\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what lies outside the folder."""
    for source in ("ARCHITECTURE.md", "benchmarks/README.md"):
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, PAGES[source], content=linked(text, source, PAGES[source])))
    files.append(File.generated(config, "decisions/index.md", content=_decisions()))
    for path in sorted((ROOT / "configs").rglob("*.yaml")):
        files.append(File.generated(config, str(path.relative_to(ROOT)), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Let links lead to where the site has what they mean."""
    if page.file.generated_by is not None:
        return markdown
    return linked(markdown, f"docs/{page.file.src_uri}", page.file.src_uri)


def linked(markdown: str, source: str, target: str) -> str:
    """The page with its relative links turned, from where it lies in a clone to where it lies on the site."""

    def turned(match: re.Match[str]) -> str:
        meant = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        place = PAGES.get(meant, meant.removeprefix("docs/"))
        return match[1] + posixpath.relpath(place, posixpath.dirname(target) or ".") + match[3]

    return _LINK.sub(turned, markdown)


def _decisions() -> str:
    pages = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    titles = [path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") for path in pages]
    lines = [f"* [{title}]({path.name})" for path, title in zip(pages, titles, strict=True)]
    return "# Decisions\n\nContext, choice and consequence, half a page each.\n\n" + "\n".join(lines) + "\n"
