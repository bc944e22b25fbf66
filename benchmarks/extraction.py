"""Extraction: pages a CPU second of PDFs by engine, table cells against pdfplumber's, the cost of isolation.

    python benchmarks/extraction.py [PDF or folder ...] [--pages N]

Without arguments it reads the bundled corpus and a manual of plain and ruled pages that it makes. `PDFium alone`
opens the file and asks for the text of each page, which nothing here can be quicker than. pypdf takes part where
it is installed; markitdown too, or from an environment of its own: --markitdown VENV/bin/python. CPU seconds are
user and system time, the best of three runs. A cell is equal when its text without white space is.
"""

from __future__ import annotations

import argparse
import io
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from transforms.extractors.isolate import ReaderProcess  # noqa: E402 - no installed package
from transforms.extractors.pdf import extract_pdf  # noqa: E402
from transforms.extractors.registry import extract  # noqa: E402
from transforms.extractors.settings import ExtractSettings  # noqa: E402
from transforms.model.errors import RejectedError  # noqa: E402

logging.disable(logging.WARNING)
RUNS = 3
WORDS = [
    "rover",
    "draws",
    "little",
    "current",
    "on",
    "flat",
    "floors",
    "and",
    "much",
    "more",
    "when",
    "climbing",
]


def main() -> None:
    """Print the figures."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("paths", nargs="*", type=Path)
    arguments.add_argument("--pages", type=int, default=60, help="of the manual that is made")
    arguments.add_argument("--markitdown", help="a Python that has markitdown[pdf]")
    options = arguments.parse_args()
    files = {path.name: path.read_bytes() for path in pdf_files(options.paths or [ROOT / "examples"])}
    if not options.paths:
        files["text pages"] = manual(options.pages, rows=0)
        files["ruled pages"] = manual(options.pages, rows=12)
    readable = {name: data for name, data in files.items() if pages_of(data)}
    for name, data in readable.items():
        print(f"\n{name}: {pages_of(data)} pages, {len(data):,} bytes")
        for engine, read in engines().items():
            print(f"  {engine:24} {speed(read, data)}")
        if options.markitdown:
            print(f"  {'markitdown':24} {elsewhere(options.markitdown, data)}")
    cells(readable)
    isolation(readable)


def pdf_files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.rglob("*.pdf")) if path.is_dir() else [path]


def pages_of(data: bytes) -> int:
    try:
        return len(extract_pdf(data, ExtractSettings()).pages)
    except RejectedError:
        return 0


def engines() -> dict[str, Callable[[bytes], object]]:
    """By name, what reads all text of a PDF."""
    text_only, tables = ExtractSettings(pdf_tables=False), ExtractSettings()
    found: dict[str, Callable[[bytes], object]] = {
        "text": lambda data: extract_pdf(data, text_only),
        "text and tables": lambda data: extract_pdf(data, tables),
        "PDFium alone": by_pdfium,
        "pdfplumber": by_pdfplumber,
    }
    try:
        import pypdf

        found["pypdf"] = lambda data: [
            page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages
        ]
    except ImportError:
        pass
    try:
        from markitdown import MarkItDown

        reader = MarkItDown()
        found["markitdown"] = lambda data: reader.convert_stream(io.BytesIO(data), file_extension=".pdf")
    except ImportError:
        pass
    return found


def by_pdfium(data: bytes) -> list[str]:
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    texts = [document[number].get_textpage().get_text_range() for number in range(len(document))]
    document.close()
    return texts


def by_pdfplumber(data: bytes) -> list[str]:
    import pdfplumber

    with pdfplumber.open(io.BytesIO(data)) as document:
        return [page.extract_text() for page in document.pages]


ELSEWHERE = """
import io, logging, sys, time
from markitdown import MarkItDown
logging.disable(logging.WARNING)
data, reader, best = sys.stdin.buffer.read(), MarkItDown(), 1e9
for _ in range(3):
    before = time.process_time()
    reader.convert_stream(io.BytesIO(data), file_extension=".pdf")
    best = min(best, time.process_time() - before)
print(best)
"""


def elsewhere(python: str, data: bytes) -> str:
    """What markitdown takes in the environment of another Python."""
    done = subprocess.run([python, "-c", ELSEWHERE], input=data, capture_output=True, check=False)
    if done.returncode:
        return done.stderr.decode().strip().rpartition("\n")[2]
    return f"{pages_of(data) / float(done.stdout):8.1f} pages a CPU second"


def speed(read: Callable[[bytes], object], data: bytes) -> str:
    try:
        return f"{pages_of(data) / best(lambda: read(data)):8.1f} pages a CPU second"
    except Exception as error:  # noqa: BLE001 - of other engines, on files that are made to be hard
        return f"{type(error).__name__}"


def best(work: Callable[[], object]) -> float:
    """CPU seconds of the quickest run."""
    times = []
    for _ in range(RUNS):
        before = time.process_time()
        work()
        times.append(time.process_time() - before)
    return max(min(times), 1e-6)


def cells(files: dict[str, bytes]) -> None:
    """Compare the cells of each table with those of pdfplumber, page by page."""
    import pdfplumber
    import pypdfium2

    from transforms.extractors.pdfium_page import page_cells

    pages = same_tables = tables = equal = total = 0
    for data in files.values():
        with pdfplumber.open(io.BytesIO(data)) as reference, pypdfium2.PdfDocument(data) as document:
            for number, page in enumerate(reference.pages):
                ours = page_cells(document[number])
                theirs = [[cell for row in t.extract() for cell in row] for t in page.find_tables()]
                if not page.rotation and theirs:
                    pages += 1
                    tables += len(theirs)
                    same_tables += [len(t) for t in ours] == [len(t) for t in theirs] and len(theirs)
                    flat = [
                        (a, b)
                        for one, other in zip(ours, theirs, strict=False)
                        for a, b in zip(one, other, strict=False)
                    ]
                    equal += sum("".join((a or "").split()) == "".join((b or "").split()) for a, b in flat)
                    total += sum(map(len, theirs))
                page.close()
    print(
        f"\ncells: {equal} of {total} equal to pdfplumber's; {same_tables} of {tables} tables alike, {pages} pages"
    )


def isolation(files: dict[str, bytes]) -> None:
    """CPU seconds in the worker, and of both processes where another one reads."""
    settings = ExtractSettings()
    reader = ReaderProcess()
    for data in files.values():
        reader.extract(data, "a.pdf", settings)
    process = reader._process
    assert process is not None
    here = there = float("inf")
    for _ in range(RUNS):
        before = time.process_time()
        for data in files.values():
            extract(data, "a.pdf", settings)
        here = min(here, time.process_time() - before)
        before = time.process_time() + cpu_seconds(process.pid)
        for data in files.values():
            reader.extract(data, "a.pdf", settings)
        there = min(there, time.process_time() + cpu_seconds(process.pid) - before)
    reader.close()
    print(f"isolation: {here:.2f} CPU s in the worker, {there:.2f} apart: {100 * (there / here - 1):+.1f}%")


def cpu_seconds(pid: int) -> float:
    """User and system time of another process, on Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def manual(pages: int, rows: int) -> bytes:
    """A PDF of full pages; with ``rows``, of a ruled table of four columns on each."""
    contents = [page_content(number, rows) for number in range(pages)]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(pages))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {pages}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, content in enumerate(contents):
        objects.append(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>"
            f"/Contents {5 + 2 * number} 0 R>>"
        )
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    data = "%PDF-1.7\n"
    places = []
    for number, text in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return (
        f"{data}xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}"
        f"trailer<</Root 1 0 R/Size {len(places) + 1}>>\nstartxref\n{len(data)}\n%%EOF"
    ).encode("latin-1")


def page_content(number: int, rows: int) -> str:
    def text(x: float, y: float, words: str) -> str:
        return f" BT /F 11 Tf 1 0 0 1 {x} {y} Tm ({words}) Tj ET "

    lines = 50 - 2 * rows
    parts = [
        text(50, 760 - 14 * line, " ".join(WORDS[(number + line + n) % len(WORDS)] for n in range(14)))
        for line in range(lines)
    ]
    top = 740 - 14 * lines
    for row in range(rows):
        y = top - 20 * row
        parts += [text(55 + 120 * column, y - 14, f"cell {number}.{row}.{column}") for column in range(4)]
        parts += [f" 50 {y} m 530 {y} l S "]
    if rows:
        bottom = top - 20 * rows
        parts += [f" 50 {bottom} m 530 {bottom} l S "]
        parts += [f" {50 + 120 * column} {bottom} m {50 + 120 * column} {top} l S " for column in range(5)]
    return "".join(parts)


if __name__ == "__main__":
    main()
