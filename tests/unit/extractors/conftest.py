"""Builders of the smallest office files, for tests that ask for them by name."""

from collections.abc import Callable, Mapping

import pytest

from tests.support import office_files

Zipped = Callable[[Mapping[str, str | bytes]], bytes]
MakeDocx = Callable[..., bytes]
MakePptx = Callable[..., bytes]
MakeXlsx = Callable[..., bytes]


@pytest.fixture
def zipped() -> Zipped:
    """Makes a zip file of members by name."""
    return office_files.zip_of


@pytest.fixture
def make_docx() -> MakeDocx:
    """Makes a Word file of the XML inside its body and, by name, of other parts."""
    return office_files.make_docx


@pytest.fixture
def make_pptx() -> MakePptx:
    """Makes a presentation of the shapes' XML of each slide; notes by slide number from 1, one layout for all."""
    return office_files.make_pptx


@pytest.fixture
def make_xlsx() -> MakeXlsx:
    """Makes a workbook of the XML inside each sheet; ``hidden`` names one that is not shown."""
    return office_files.make_xlsx
