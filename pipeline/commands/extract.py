"""``parquetry extract``: what extraction makes of local files, one JSON object a line.

An object has ``path``, ``outcome``, ``reason``, ``detail``, ``text``, ``records``, ``blocks`` and ``pages``;
offsets are code points of ``text``. A file of several documents gives one object a document, and after them
one for each part of it that cannot be read.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from pipeline.config.models import MAX_OBJECT_BYTES
from transforms.extractors.isolate import extract_isolated
from transforms.extractors.outcome import outcome_of
from transforms.extractors.records import RECORDS
from transforms.extractors.settings import ExtractSettings
from transforms.model.errors import RejectedError, StorageError
from transforms.storage.local_files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transforms.model.document import Document


def run(paths: Sequence[str], out: TextIO) -> int:
    """Print one line a document; a file that cannot be read is a line too, and makes the exit code 1."""
    settings = ExtractSettings()
    code = 0
    for path in paths:
        try:
            data = read_file(Path(path), MAX_OBJECT_BYTES)
        except StorageError as error:
            lines = iter([_refused(path, "unreadable", str(error))])
            code = StorageError.exit_code
        else:
            lines = _lines(path, data, settings)
        for line in lines:
            out.write(line + "\n")
            out.flush()
    return code


def _lines(path: str, data: bytes, settings: ExtractSettings) -> Iterator[str]:
    try:
        found = extract_isolated(data, Path(path).name, settings)
    except RejectedError as error:
        yield _refused(path, error.reason, error.detail)
    else:
        for document in found.documents:
            yield _document(path, document)
        for part in found.refused:
            yield _refused(path, part.reason, part.detail, part.record)


def _refused(path: str, reason: str, detail: str, record: str | None = None) -> str:
    fields = {
        "path": path,
        "outcome": outcome_of(reason),
        "reason": reason,
        "detail": detail,
        "record": record,
    }
    return json.dumps({**fields, "text": "", "records": 0, "blocks": [], "pages": []})


def _document(path: str, document: Document) -> str:
    fields = {
        "path": path,
        "outcome": "ok",
        "reason": None,
        "detail": None,
        "record": document.record,
        "media_type": document.media_type,
        "title": document.title,
        "language": document.language,
        "metadata": dict(document.metadata),
        "warnings": document.warnings,
        "text": document.text,
        "records": document.metadata.get(RECORDS, 1),
        "blocks": [block._asdict() for block in document.blocks],
        "pages": [asdict(page) for page in document.pages],
    }
    return json.dumps(fields, default=str)
