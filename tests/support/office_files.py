"""Builders of the smallest office files: the XML that matters is in the test, the rest is here."""

import io
import zipfile
from collections.abc import Mapping

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
CORE = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    f'xmlns:r="{RELATIONS}"'
)


def zip_of(members: Mapping[str, str | bytes]) -> bytes:
    """A zip file of members by name, all of the first moment that it can tell."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def relations(*entries: tuple[str, str, str]) -> str:
    """A part's relations: id, kind and target of each."""
    lines = (
        f'<Relationship Id="{key}" Type="{kind if "/" in kind else f"{RELATIONS}/{kind}"}" Target="{target}"/>'
        for key, kind, target in entries
    )
    return f'<Relationships xmlns="{PACKAGE}">{"".join(lines)}</Relationships>'


def make_docx(body: str, *, core: str = "", **parts: str) -> bytes:
    """Makes a Word file of the XML inside its body and, by name, of other parts."""
    roots = {
        "styles": "styles",
        "numbering": "numbering",
        "footnotes": "footnotes",
        "endnotes": "endnotes",
    }
    members = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations(
            ("r1", "officeDocument", "word/document.xml"), ("r2", CORE, "docProps/core.xml")
        ),
        "docProps/core.xml": (
            '<c:coreProperties xmlns:c="c" xmlns:dc="dc" xmlns:dcterms="t">' + core + "</c:coreProperties>"
        ),
        "word/document.xml": f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relations(*((name, name, f"{name}.xml") for name in parts)),
    }
    for name, content in parts.items():
        members[f"word/{name}.xml"] = f"<w:{roots[name]} {NAMESPACES}>{content}</w:{roots[name]}>"
    return zip_of(members)


def make_pptx(
    *slides: str, notes: Mapping[int, str] | None = None, hidden: int = 0, layout: str = ""
) -> bytes:
    """Makes a presentation of the shapes' XML of each slide; notes by slide number from 1, one layout for all."""
    members = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/_rels/presentation.xml.rels": relations(
            *((f"s{n}", "slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1))
        ),
    }
    entries = "".join(f'<p:sldId id="{n}" r:id="s{n}"/>' for n in range(1, len(slides) + 1))
    members["ppt/presentation.xml"] = (
        f"<p:presentation {NAMESPACES}><p:sldIdLst>{entries}</p:sldIdLst></p:presentation>"
    )
    for number, shapes in enumerate(slides, 1):
        show = ' show="0"' if number == hidden else ""
        members[f"ppt/slides/slide{number}.xml"] = (
            f"<p:sld {NAMESPACES}{show}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
        if layout:
            members[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations(
                ("l", "slideLayout", "../slideLayouts/slideLayout1.xml")
            )
    if layout:
        members["ppt/slideLayouts/slideLayout1.xml"] = (
            f"<p:sldLayout {NAMESPACES}><p:cSld><p:spTree>{layout}</p:spTree></p:cSld></p:sldLayout>"
        )
    for number, shapes in (notes or {}).items():
        members[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations(
            ("n", "notesSlide", f"../notesSlides/notes{number}.xml")
        )
        members[f"ppt/notesSlides/notes{number}.xml"] = (
            f"<p:notes {NAMESPACES}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:notes>"
        )
    return zip_of(members)


def make_xlsx(sheets: Mapping[str, str], *, hidden: str = "", shared: str = "") -> bytes:
    """Makes a workbook of the XML inside each sheet; ``hidden`` names one that is not shown."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    entries, links = "", []
    members: dict[str, str | bytes] = {}
    for number, (name, content) in enumerate(sheets.items(), 1):
        state = ' state="hidden"' if name == hidden else ""
        entries += f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"{state}/>'
        links.append((f"r{number}", "worksheet", f"worksheets/sheet{number}.xml"))
        members[f"xl/worksheets/sheet{number}.xml"] = f'<worksheet xmlns="{main}">{content}</worksheet>'
    links += [("st", "styles", "styles.xml"), ("ss", "sharedStrings", "sharedStrings.xml")]
    members |= {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations(("r1", "officeDocument", "xl/workbook.xml")),
        "xl/_rels/workbook.xml.rels": relations(*links),
        "xl/workbook.xml": (
            f'<workbook xmlns="{main}" xmlns:r="{RELATIONS}"><sheets>{entries}</sheets></workbook>'
        ),
        "xl/styles.xml": (
            f'<styleSheet xmlns="{main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs>'
            "</styleSheet>"
        ),
        "xl/sharedStrings.xml": shared or f'<sst xmlns="{main}"/>',
    }
    return zip_of(members)
