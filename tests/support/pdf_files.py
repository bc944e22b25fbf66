"""Makes the smallest PDFs: the content streams are in the test, the rest is here."""

from collections.abc import Sequence

HELVETICA = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"


def make_pdf(
    *contents: str,
    catalog: str = "",
    more: Sequence[str] = (),
    page: str = "",
    info: str = "",
    font: str = HELVETICA,
) -> bytes:
    """A PDF of a page for each content stream; object 1 is the catalogue, 4 the font, 5 the first page.

    ``more`` objects follow the last page's content.
    """
    kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(contents)))
    objects = [
        f"<</Type/Catalog/Pages 2 0 R {catalog}>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(contents)}>>",
        f"<<{info}>>",
        font,
    ]
    for number, content in enumerate(contents):
        objects.append(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 4 0 R>>>>"
            f"/Contents {6 + 2 * number} 0 R {page}>>"
        )
        objects.append(f"<</Length {len(content.encode('latin-1'))}>>stream\n{content}\nendstream")
    data = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate([*objects, *more], 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return data + (
        f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}"
        f"trailer<</Size {len(places) + 1}/Root 1 0 R/Info 3 0 R>>\nstartxref\n{len(data)}\n%%EOF"
    ).encode("latin-1")


def at(x: float, y: float, text: str, size: float = 12, mode: int = 0) -> str:
    """Text at a place from the bottom left."""
    return f" BT /F {size} Tf {mode} Tr 1 0 0 1 {x} {y} Tm ({text}) Tj ET "


def lines(*texts: str, top: float = 700, x: float = 60) -> str:
    return " ".join(at(x, top - 14 * number, text) for number, text in enumerate(texts))


def mapped_font(codes: dict[int, str], number: int) -> tuple[str, str]:
    """A font whose map says what these codes mean, in UTF-16 as hexadecimal digits; and the map as an object.

    Args:
        codes: by code of a letter.
        number: of the map's object.
    """
    entries = "\n".join(f"<{code:02X}> <{meaning}>" for code, meaning in codes.items())
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /M def "
        f"1 begincodespacerange <00> <FF> endcodespacerange {len(codes)} beginbfchar\n{entries}\nendbfchar "
        "endcmap end end"
    )
    font = f"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode {number} 0 R>>"
    return font, f"<</Length {len(cmap)}>>stream\n{cmap}\nendstream"
