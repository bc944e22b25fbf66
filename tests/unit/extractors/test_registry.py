"""What an object becomes when something goes wrong while it is read."""

import re

import pytest

from transforms.extractors import code
from transforms.extractors.reasons import BUG
from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.errors import RejectedError


def test_a_fault_of_the_program_is_told_from_a_bad_file_and_says_where_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(data: bytes, name: str, settings: ExtractSettings) -> None:
        raise KeyError("styles")

    monkeypatch.setattr(code, "extract_code", broken)
    with pytest.raises(RejectedError) as refused:
        extract(b"x = 1\n", "a.py", ExtractSettings())
    assert refused.value.reason == BUG
    assert re.fullmatch(
        "Reading it as text/x-source met a fault of this program: KeyError: 'styles' "
        r"\(registry\.py line \d+, in _read\)\. Please report it\.",
        refused.value.detail,
    )
    assert isinstance(refused.value.__cause__, KeyError)


def test_memory_that_runs_out_is_no_fault_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(data: bytes, name: str, settings: ExtractSettings) -> None:
        raise MemoryError

    monkeypatch.setattr(code, "extract_code", greedy)
    with pytest.raises(MemoryError):
        extract(b"x = 1\n", "a.py", ExtractSettings())
