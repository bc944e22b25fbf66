"""Files that take too long or too much end in a rejection, and the next file is read."""

import gzip
import os
import signal
import threading
from collections.abc import Iterator

import pytest

from transforms.extractors.isolate import ReaderProcess, extract_isolated
from transforms.extractors.settings import ExtractSettings
from transforms.model.errors import RejectedError

SMALL = gzip.compress(b"words")


@pytest.fixture
def reader() -> Iterator[ReaderProcess]:
    process = ReaderProcess()
    yield process
    process.close()


def reason(reader: ReaderProcess, data: bytes, **settings: object) -> str:
    with pytest.raises(RejectedError) as refused:
        reader.extract(data, "a.txt.gz", ExtractSettings.model_validate(settings))
    return refused.value.reason


def text(reader: ReaderProcess) -> str:
    [document] = reader.extract(SMALL, "a.txt.gz", ExtractSettings()).documents
    return document.text


def test_a_file_that_takes_too_long_is_rejected_and_the_next_is_read(reader: ReaderProcess) -> None:
    assert reason(reader, SMALL, max_seconds=1e-6) == "timeout"
    assert text(reader) == "words"


def test_a_file_that_takes_too_much_memory_is_rejected_and_the_next_is_read(reader: ReaderProcess) -> None:
    assert text(reader) == "words"
    large = gzip.compress(b"word\n" * 30_000_000, 1)
    assert reason(reader, large, max_memory_mb=64, max_expansion_ratio=10_000) == "out_of_memory"
    assert text(reader) == "words"


def test_a_process_that_is_ended_by_a_file_is_named_and_replaced(reader: ReaderProcess) -> None:
    assert text(reader) == "words"
    process = reader._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    timer = threading.Timer(0.1, process.kill)
    timer.start()
    with pytest.raises(RejectedError, match=r"crashed: .* ended by SIGKILL"):
        reader.extract(SMALL, "a.txt.gz", ExtractSettings())
    timer.join()
    assert text(reader) == "words"


def test_a_rejection_comes_back_as_it_was_raised(reader: ReaderProcess) -> None:
    assert reason(reader, b"\x1f\x8b damaged") == "corrupt"


def test_what_is_isolated_is_what_is_read_without() -> None:
    apart, plain = (
        extract_isolated(SMALL, "a.txt.gz", ExtractSettings(isolate=flag)) for flag in (True, False)
    )
    assert apart == plain
