"""Whatever is done to a file's bytes, it ends in documents or in a named rejection, never in another error.

PARQUETRY_FUZZ_VARIANTS says how many damaged files are read in all; they are the same in every run.
"""

import json
import os
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.samples import sample_files
from transforms.extractors.detect import media_type
from transforms.extractors.extraction import Extraction
from transforms.extractors.isolate import ReaderProcess
from transforms.extractors.reasons import BUG, REASONS
from transforms.extractors.registry import FORMATS, extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import Document
from transforms.model.errors import RejectedError

SETTINGS = ExtractSettings(max_expanded_bytes=4 << 20, max_pages=50, max_seconds=20)
VARIANTS = int(os.environ.get("PARQUETRY_FUZZ_VARIANTS", "200"))
SHARED = Path(os.environ.get("PARQUETRY_HARD_FILES", Path(__file__).parents[4] / "shared" / "files"))
HARD = sorted(path for path in SHARED.glob("*/*") if path.is_file()) if SHARED.is_dir() else []
IN_PROCESS = ("pdf", "xlsx", "parquet")
"""Read by native code, whose faults may end a process: in one of its own, as in the job."""


@pytest.fixture(scope="module")
def reader() -> Iterator[ReaderProcess]:
    process = ReaderProcess()
    yield process
    process.close()


@pytest.fixture(scope="module")
def samples() -> Mapping[str, bytes]:
    """One file of every format, the hard ones besides where their folder is present."""
    return sample_files() | {path.name: path.read_bytes() for path in HARD}


def damaged(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Cut, flip, insert, repeat, leave out, or join with another file."""
    body = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        if not body:
            break
        place = chance.randrange(len(body))
        match chance.randrange(6):
            case 0:
                del body[place:]
            case 1:
                body[place] ^= 1 << chance.randrange(8)
            case 2:
                body[place:place] = bytes(chance.randrange(256) for _ in range(chance.randrange(9)))
            case 3:
                body += body[place : place + 4096]
            case 4:
                body[place:] = other[chance.randrange(len(other) or 1) :][:100_000]
            case _:
                del body[place : place + chance.randrange(1, 64)]
    return bytes(body)


def check(data: bytes, name: str, reader: ReaderProcess) -> None:
    try:
        found = read(data, name, reader)
    except RejectedError as refused:
        hold_reason(refused.reason, refused.detail, name)
        return
    assert found.documents
    for document in found.documents:
        hold(document)
    for part in found.refused:
        hold_reason(part.reason, part.detail, name)


def read(data: bytes, name: str, reader: ReaderProcess) -> Extraction:
    if name.endswith(IN_PROCESS):
        return reader.extract(data, name, SETTINGS)
    return extract(data, name, SETTINGS)


def hold_reason(reason: str, detail: str, name: str) -> None:
    assert reason in REASONS
    assert reason != BUG, f"{name}: {detail}"
    assert detail


def hold(document: Document) -> None:
    """The laws of a document."""
    text = document.text
    assert text.strip()
    text.encode()
    assert "\0" not in text
    assert "\r" not in text
    end = 0
    outside = []
    for block in document.blocks:
        assert end <= block.start < block.end <= len(text)
        outside.append(text[end : block.start])
        end = block.end
    assert not "".join([*outside, text[end:]]).strip()
    assert all(0 <= page.start <= page.end <= len(text) for page in document.pages)
    json.dumps(dict(document.metadata))


def test_every_sample_is_read_as_it_is(samples: Mapping[str, bytes], reader: ReaderProcess) -> None:
    for name in sample_files().keys() - {"a.png"}:
        assert read(samples[name], name, reader).documents
    with pytest.raises(RejectedError, match="unsupported_type"):
        read(samples["a.png"], "a.png", reader)


def test_every_format_that_is_read_has_a_sample() -> None:
    assert {media_type(data, name) for name, data in sample_files().items()} == set(FORMATS)


def test_samples_are_the_same_bytes_each_time() -> None:
    assert sample_files() == sample_files()


@pytest.mark.parametrize("part", range(4))
def test_damaged_files_end_in_documents_or_in_a_named_rejection(
    part: int, samples: Mapping[str, bytes], reader: ReaderProcess
) -> None:
    names = sorted(samples)
    for number in range(part, VARIANTS, 4):
        chance = random.Random(number)
        name = names[number % len(names)]
        other = samples[chance.choice(names)]
        check(damaged(samples[name], other, chance), name, reader)


@pytest.mark.skipif(not HARD, reason="needs the folder of hard files: PARQUETRY_HARD_FILES")
def test_the_hard_files_are_among_the_samples(samples: Mapping[str, bytes]) -> None:
    assert len(samples) > 60
