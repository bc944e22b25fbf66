"""Whatever is done to a file's bytes, it ends in documents or in a named rejection."""

import email.message
from collections.abc import Callable, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from transforms.extractors.registry import extract
from transforms.extractors.settings import ExtractSettings
from transforms.model.errors import RejectedError

Make = Callable[..., bytes]

RST = b"Top\n===\n\n.. note:: a\n\n   - b :ref:`c <d>`\n\n+---+---+\n| a | b |\n+---+---+\n\n.. [1] Note.\n"
DOCX = (
    '<w:p><w:pPr><w:outlineLvl w:val="0"/><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>a</w:t></w:r>'
    '</w:p><w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>'
)
SLIDE = "<p:sp><p:nvSpPr><p:cNvPr/><p:nvPr/></p:nvSpPr><p:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></p:txBody></p:sp>"
SHEET = '<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>'


@pytest.fixture
def samples(make_docx: Make, make_pptx: Make, make_xlsx: Make, zipped: Make) -> Mapping[str, bytes]:
    message = email.message.EmailMessage()
    message["Subject"] = "Gr\u00fc\u00dfe"
    message.set_content("Text.")
    message.add_attachment("Inside.", filename="a.txt")
    return {
        "a.docx": make_docx(DOCX),
        "a.pptx": make_pptx(SLIDE),
        "a.xlsx": make_xlsx({"S": SHEET}),
        "a.zip": zipped({"a.txt": "A", "b.eml": message.as_bytes()}),
        "a.eml": message.as_bytes(),
        "a.rst": RST,
    }


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_cut_flipped_and_joined_bytes_end_well(samples: Mapping[str, bytes], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(samples)))
    good = samples[name]
    place = st.integers(0, len(good) - 1)
    first, second, bit = data.draw(place), data.draw(place), data.draw(st.integers(0, 7))
    flipped = good[:first] + bytes([good[first] ^ 1 << bit]) + good[first + 1 :]
    damaged = data.draw(
        st.sampled_from([good[:first], good[first:], good[:first] + good[second:], flipped])
    )
    try:
        documents = extract(damaged, name, ExtractSettings()).documents
    except RejectedError:
        return
    for document in documents:
        ends = [0, *(block.end for block in document.blocks)]
        assert all(
            end <= block.start < block.end for end, block in zip(ends, document.blocks, strict=False)
        )
        assert ends[-1] <= len(document.text)
