"""``parquetry preview``: how a file is read and cut, to choose settings by looking."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.one_file import Cutter, Settings, documents_of, read_object, settings_of
from pipeline.output import counted
from pipeline.preview.view import Cutting, View
from transforms.model.ids import doc_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transforms.model.document import Document

_DOCUMENTS = 50
"""Of a file with many records the first ones are shown."""
PDF = "application/pdf"


def run(
    location: str,
    strategies: Sequence[str],
    *,
    config: Path | None,
    source: str | None,
    html: Path | None,
    open_page: bool,
) -> int:
    """Show one file under one or more strategies, in the terminal or as an HTML file."""
    settings = settings_of(config, source)
    chosen = [settings.with_strategy(one) for one in strategies] or [settings]
    name, data = read_object(location)
    documents = documents_of(location, name, data, settings.extraction)
    views = _views(name, documents, chosen)
    note = ""
    if len(documents) > len(views):
        note = f"The first {len(views)} of {len(documents):,} documents of {location}."
    if html is None and not open_page:
        _in_terminal(views, note)
    else:
        _as_page(views, note, data, html or Path("build") / "preview" / f"{name}.html", open_page=open_page)
    return 0


def _views(name: str, documents: Sequence[Document], chosen: Sequence[Settings]) -> list[View]:
    cutters = [(one.chunking.label, Cutter(one)) for one in chosen]
    views = []
    for document in documents[:_DOCUMENTS]:
        called = doc_id(name, document.record)
        cuttings = (Cutting(strategy, tuple(cutter.cut(document, called))) for strategy, cutter in cutters)
        views.append(View(called, document, tuple(cuttings)))
    return views


def _in_terminal(views: Sequence[View], note: str) -> None:
    from pipeline.preview.terminal import show

    for view in views:
        show(view)
    if note:
        print(note)


def _as_page(views: Sequence[View], note: str, data: bytes, path: Path, *, open_page: bool) -> None:
    from pipeline.preview.page import preview_page
    from pipeline.preview.pictures import page_pictures

    is_pdf = len(views) == 1 and views[0].document.media_type == PDF
    pictures = page_pictures(data) if is_pdf else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(preview_page(views, pictures, note), encoding="utf-8")
    print(f"{path} shows {counted(len(views), 'document')}.")
    if open_page and not webbrowser.open(path.absolute().as_uri()):
        print("No browser could be opened; open that file in one.")
