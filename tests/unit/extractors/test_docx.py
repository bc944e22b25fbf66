"""What is read out of Word files."""

import io
import zipfile
from collections.abc import Callable

import pytest

from transforms.extractors.office import extract_docx
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import BlockKind, Document
from transforms.model.errors import RejectedError

MakeDocx = Callable[..., bytes]


def read(data: bytes, **settings: object) -> Document:
    return extract_docx(data, "a.docx", ExtractSettings.model_validate(settings))


def p(content: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{content}</w:p>"


def r(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def test_tracked_changes_are_accepted(make_docx: MakeDocx) -> None:
    body = p(
        r("The ")
        + f"<w:ins>{r('new ')}</w:ins>"
        + "<w:del><w:r><w:delText>old </w:delText></w:r></w:del>"
        + f"<w:ins>{r('and final ')}</w:ins>"
        + r("text")
        + "<w:del><w:r><w:delText> draft</w:delText></w:r></w:del>"
        + f"<w:ins>{r(' stands.')}</w:ins>"
    )
    assert read(make_docx(body)).text == "The new and final text stands.\n"


def test_moved_text_stands_where_it_was_moved_to(make_docx: MakeDocx) -> None:
    body = (
        f"<w:moveFrom>{p(r('Moved.'))}</w:moveFrom>"
        + p(r("First."))
        + p(f"<w:moveTo>{r('Moved.')}</w:moveTo>")
    )
    assert read(make_docx(body)).text == "First.\n\nMoved.\n"


def test_paragraphs_are_joined_where_the_mark_between_them_was_deleted(make_docx: MakeDocx) -> None:
    body = p(r("One "), "<w:rPr><w:del/></w:rPr>") + p(r("line."))
    assert read(make_docx(body)).text == "One line.\n"


def test_deleted_rows_are_out(make_docx: MakeDocx) -> None:
    kept = f"<w:tr>{cell(p(r('a')))}{cell(p(r('b')))}</w:tr>"
    gone = f"<w:tr><w:trPr><w:del/></w:trPr>{cell(p(r('x')))}{cell(p(r('y')))}</w:tr>"
    assert read(make_docx(f"<w:tbl>{kept}{gone}</w:tbl>")).text == "| a | b |\n| --- | --- |\n"


def test_headings_have_the_level_of_their_style_whatever_its_language(make_docx: MakeDocx) -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="Own"><w:basedOn w:val="berschrift2"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="Level"><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>'
    )
    body = (
        p(r("Two"), '<w:pStyle w:val="berschrift2"/>')
        + p(r("Two as well"), '<w:pStyle w:val="Own"/>')
        + p(r("Three"), '<w:pStyle w:val="Level"/>')
        + p(r("One"), '<w:outlineLvl w:val="0"/>')
        + p(r("Text"), '<w:pStyle w:val="Level"/><w:outlineLvl w:val="9"/>')
    )
    document = read(make_docx(body, styles=styles))
    assert document.text == "## Two\n\n## Two as well\n\n### Three\n\n# One\n\nText\n"
    assert [block.level for block in document.blocks] == [2, 2, 3, 1, None]


def test_numbered_lists_count_and_nest(make_docx: MakeDocx) -> None:
    levels = (
        '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl>'
    )
    numbering = (
        f'<w:abstractNum w:abstractNumId="7">{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
    )

    def item(text: str, level: int) -> str:
        return p(r(text), f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>')

    body = item("Open", 0) + item("gently", 1) + item("Close", 0) + p(r("Done."))
    document = read(make_docx(body, numbering=numbering))
    assert document.text == "3. Open\n   - gently\n4. Close\n\nDone.\n"
    assert [block.kind for block in document.blocks] == [BlockKind.LIST, BlockKind.PARAGRAPH]


def test_lists_nest_by_the_styles_of_their_levels(make_docx: MakeDocx) -> None:
    def item(style: str, text: str) -> str:
        return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'

    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/><w:pPr><w:numPr><w:numId '
        f'w:val="{number}"/></w:numPr></w:pPr></w:style>'
        for key, name, number in (("A", "List Bullet", 1), ("B", "List Bullet 2", 2))
    )
    numbering = "".join(
        f'<w:abstractNum w:abstractNumId="{n}"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
        f'<w:num w:numId="{n}"><w:abstractNumId w:val="{n}"/></w:num>'
        for n in (1, 2)
    )
    body = item("A", "outer") + item("B", "inner") + item("A", "again")
    assert read(make_docx(body, styles=styles, numbering=numbering)).text == "- outer\n  - inner\n- again\n"


def test_merged_cells_are_repeated(make_docx: MakeDocx) -> None:
    wide, tall, below = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    rows = (
        f"<w:tr>{cell(p(r('wide')), wide)}{cell(p(r('end')))}</w:tr>"
        f"<w:tr>{cell(p(r('tall')), tall)}{cell(p(r('x|y')))}{cell(p(r('1')))}</w:tr>"
        f"<w:tr>{cell(p(''), below)}{cell(p(r('z')) + p(r('w')))}{cell(p(r('2')))}</w:tr>"
    )
    assert read(make_docx(f"<w:tbl>{rows}</w:tbl>")).text == (
        "| wide | wide | end |\n| --- | --- | --- |\n| tall | x\\|y | 1 |\n| tall | z w | 2 |\n"
    )


def test_rows_that_word_repeats_on_each_page_are_one_head(make_docx: MakeDocx) -> None:
    repeated, wide, tall = "<w:trPr><w:tblHeader/></w:trPr>", '<w:gridSpan w:val="2"/>', "<w:vMerge/>"
    rows = (
        f"<w:tr>{repeated}{cell(p(r('Part')))}{cell(p(r('Price')), wide)}</w:tr>"
        f"<w:tr>{repeated}{cell(p(''), tall)}{cell(p(r('net')))}{cell(p(r('gross')))}</w:tr>"
        f"<w:tr>{cell(p(r('bolt')))}{cell(p(r('1')))}{cell(p(r('2')))}</w:tr>"
    )
    assert read(make_docx(f"<w:tbl>{rows}</w:tbl>")).text == (
        "| Part | Price net | Price gross |\n| --- | --- | --- |\n| bolt | 1 | 2 |\n"
    )


def test_a_table_in_a_cell_is_read_once(make_docx: MakeDocx) -> None:
    inner = f"<w:tbl><w:tr>{cell(p(r('in')))}{cell(p(r('side')))}</w:tr></w:tbl>"
    outer = f"<w:tbl><w:tr>{cell(p(r('out')))}{cell(inner + p(''))}</w:tr></w:tbl>"
    assert read(make_docx(outer)).text == "| out | in side |\n| --- | --- |\n"


def test_a_table_of_one_cell_is_a_box_around_blocks(make_docx: MakeDocx) -> None:
    content = p(r("Note"), '<w:outlineLvl w:val="1"/>') + p(r("Text."))
    assert read(make_docx(f"<w:tbl><w:tr>{cell(content)}</w:tr></w:tbl>")).text == "## Note\n\nText.\n"


def test_a_text_box_held_twice_is_read_once(make_docx: MakeDocx) -> None:
    box = f"<w:txbxContent>{p(r('In the box'))}</w:txbxContent>"
    drawing = (
        f'<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing>'
        f"</mc:Choice><mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent>"
    )
    assert read(make_docx(p(r("Before") + f"<w:r>{drawing}</w:r>"))).text == "Before\n\nIn the box\n"


def test_footnotes_follow_in_the_order_of_their_marks(make_docx: MakeDocx) -> None:
    body = p(
        r("A")
        + '<w:r><w:endnoteReference w:id="4"/></w:r>'
        + r(" and B")
        + '<w:r><w:footnoteReference w:id="2"/></w:r>'
    )
    footnotes = f'<w:footnote w:id="1">{p(r("Never."))}</w:footnote><w:footnote w:id="2">{p(r("Foot."))}</w:footnote>'
    endnotes = f'<w:endnote w:id="4">{p(r("End."))}</w:endnote>'
    document = read(make_docx(body, footnotes=footnotes, endnotes=endnotes))
    assert document.text == "A[^1] and B[^2]\n\n[^1]: End.\n\n[^2]: Foot.\n"


def test_of_fields_the_result_is_read_and_not_the_code(make_docx: MakeDocx) -> None:
    def mark(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    code = "<w:r><w:instrText>HYPERLINK x</w:instrText></w:r>"
    body = p(r("See ") + mark("begin") + code + mark("separate") + r("the page") + mark("end") + r("."))
    assert read(make_docx(body)).text == "See the page.\n"


def test_links_keep_their_text(make_docx: MakeDocx) -> None:
    assert read(make_docx(p(f"<w:hyperlink>{r('a link')}</w:hyperlink>"))).text == "a link\n"


@pytest.mark.parametrize(("policy", "text"), [("drop", "Seen.\n"), ("keep", "Seen. Unseen. By style.\n")])
def test_hidden_text_goes_by_the_setting(make_docx: MakeDocx, policy: str, text: str) -> None:
    styles = '<w:style w:type="character" w:styleId="H"><w:rPr><w:vanish/></w:rPr></w:style>'
    body = p(r("Seen.") + r(" Unseen.", "<w:vanish/>") + r(" By style.", '<w:rStyle w:val="H"/>'))
    assert read(make_docx(body, styles=styles), hidden_text=policy).text == text


def test_code_paragraphs_in_a_row_are_one_fence_with_their_indentation(make_docx: MakeDocx) -> None:
    styles = '<w:style w:type="paragraph" w:styleId="C"><w:name w:val="Source Code"/></w:style>'
    style = '<w:pStyle w:val="C"/>'
    body = p(r("if x:"), style) + p(r("    # y"), style) + p(r("After."))
    document = read(make_docx(body, styles=styles))
    assert document.text == "```\nif x:\n    # y\n```\n\nAfter.\n"
    assert [block.kind for block in document.blocks] == [BlockKind.CODE, BlockKind.PARAGRAPH]


def test_a_generated_table_of_contents_is_left_out(make_docx: MakeDocx) -> None:
    styles = '<w:style w:type="paragraph" w:styleId="T1"><w:name w:val="toc 1"/></w:style>'
    gallery = (
        '<w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
    )
    body = (
        f"<w:sdt>{gallery}<w:sdtContent>{p(r('Contents'))}</w:sdtContent></w:sdt>"
        + p(r("Start 1"), '<w:pStyle w:val="T1"/>')
        + p(r("Start"), '<w:outlineLvl w:val="0"/>')
    )
    assert read(make_docx(body, styles=styles)).text == "# Start\n"


def test_formulas_and_symbols_are_written_on_the_line(make_docx: MakeDocx) -> None:
    top, bottom = (f"<m:r><m:t>{text}</m:t></m:r>" for text in ("a+b", "2"))
    half = f"<m:oMath><m:f><m:num>{top}</m:num><m:den>{bottom}</m:den></m:f></m:oMath>"
    tick = '<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>'
    assert read(make_docx(p(r("x = ") + half + r(" ") + tick))).text == "x = (a+b)/2 \u2713\n"


@pytest.mark.parametrize(
    ("font", "codes", "text"),
    [
        ("Symbol", "F0B0 F061 F0B1 F0A3 F0B3 F06D F057 F0B7 F0E5 F0F2", "°α±≤≥μΩ•∑∫"),
        ("Symbol", "0062 F0FC", "β"),
        ("Wingdings", "F0FC F06F F0FE F0B0", "✓☐☒"),
        ("Webdings", "F0FC F061", ""),
        ("Segoe UI Symbol", "2713", "✓"),
    ],
)
def test_a_symbol_is_read_by_the_codes_of_its_font(
    make_docx: MakeDocx, font: str, codes: str, text: str
) -> None:
    signs = "".join(f'<w:r><w:sym w:font="{font}" w:char="{code}"/></w:r>' for code in codes.split())
    assert read(make_docx(p(r("a") + signs + r("b")))).text == f"a{text}b\n"


def test_prose_that_looks_like_a_mark_is_no_heading(make_docx: MakeDocx) -> None:
    document = read(make_docx(p(r("# 5 is the number")) + p(r("---")) + p(r("C# is a language"))))
    assert document.text == "\\# 5 is the number\n\n\\---\n\nC# is a language\n"
    assert {block.kind for block in document.blocks} == {BlockKind.PARAGRAPH}


def test_title_author_dates_and_language_come_from_the_properties(make_docx: MakeDocx) -> None:
    core = (
        "<dc:title> The  pump </dc:title><dc:creator>Ada</dc:creator><dc:language>en-GB</dc:language>"
        "<dcterms:modified>2024-01-02T03:04:05Z</dcterms:modified>"
    )
    document = read(make_docx(p(r("Text.")), core=core))
    assert (document.title, document.language) == ("The pump", "en-GB")
    assert document.metadata == {"author": "Ada", "modified": "2024-01-02T03:04:05Z"}


def test_a_file_of_the_strict_form_is_read_as_the_common_one(make_docx: MakeDocx) -> None:
    with zipfile.ZipFile(io.BytesIO(make_docx(p(r("Strict."))))) as old:
        members = {name: old.read(name) for name in old.namelist()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as new:
        for name, content in members.items():
            new.writestr(
                name,
                content.replace(
                    b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
                    b"http://purl.oclc.org/ooxml/wordprocessingml/main",
                ).replace(
                    b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
                    b"http://purl.oclc.org/ooxml/officeDocument/relationships",
                ),
            )
    assert read(buffer.getvalue()).text == "Strict.\n"


def test_a_word_repeated_until_the_part_is_a_thousand_times_its_size_is_a_bomb(make_docx: MakeDocx) -> None:
    data = make_docx(p(r("word " * 3_000_000)))
    assert len(data) < 100_000
    with pytest.raises(
        RejectedError, match=r"decompression_bomb: .*word/document.xml.* more than 200 times"
    ):
        read(data)


def test_a_file_that_expands_to_more_than_the_limit_is_a_bomb(make_docx: MakeDocx) -> None:
    with pytest.raises(RejectedError, match=r"decompression_bomb: .*limit of 1000 bytes"):
        read(make_docx(p(r("word " * 1000))), max_expanded_bytes=1000)


def test_a_file_without_text_says_so(make_docx: MakeDocx) -> None:
    with pytest.raises(RejectedError, match="no_text"):
        read(make_docx(p("")))


def test_a_part_with_a_document_type_is_refused(make_docx: MakeDocx) -> None:
    buffer = io.BytesIO(make_docx(p(r("x"))))
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("word/document.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    with pytest.raises(RejectedError, match=r"corrupt: .*document type"):
        read(buffer.getvalue())


def test_a_file_that_is_cut_off_is_corrupt(make_docx: MakeDocx) -> None:
    with pytest.raises(RejectedError, match="corrupt"):
        read(make_docx(p(r("x")))[:-40])


def test_emoji_that_word_writes_in_two_forms_are_read_once(make_docx: MakeDocx) -> None:
    emoji = (
        '<w:r><mc:AlternateContent><mc:Choice Requires="w16se"><w16se:symEx xmlns:w16se="s" w16se:char="1F60F"/>'
        "</mc:Choice><mc:Fallback><w:t>\U0001f60f</w:t></mc:Fallback></mc:AlternateContent></w:r>"
    )
    assert read(make_docx(p(r("Well ") + emoji + r(".")))).text == "Well \U0001f60f.\n"


@pytest.mark.parametrize(
    ("states", "chosen"),
    [
        ('<w:result w:val="1"/>', "blue"),
        ('<w:default w:val="1"/>', "blue"),
        ("", "red"),
        ('<w:result w:val="9"/>', ""),
    ],
)
def test_what_is_chosen_in_a_form_is_text(make_docx: MakeDocx, states: str, chosen: str) -> None:
    entries = '<w:listEntry w:val="red"/><w:listEntry w:val="blue"/>'
    field = (
        f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList>{states}{entries}</w:ddList></w:ffData></w:fldChar>'
        '</w:r><w:r><w:instrText>FORMDROPDOWN</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    assert read(make_docx(p(r("Colour: ") + field + r(".")))).text == f"Colour: {chosen}.\n"


def test_a_field_that_never_ends_takes_no_text_with_it(make_docx: MakeDocx) -> None:
    begin, end = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "end"))
    code = "<w:r><w:instrText>PAGE</w:instrText></w:r>"
    body = p(begin + code + r("One")) + p(begin + code + end + r("Two")) + p(begin + code)
    assert read(make_docx(body)).text == "One\n\nTwo\n"


def numbering(*levels: tuple[str, str]) -> str:
    """One list whose levels have these formats of numbers and texts."""
    inside = "".join(
        f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for n, (form, text) in enumerate(levels)
    )
    return (
        f'<w:abstractNum w:abstractNumId="0">{inside}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )


def numbered(text: str, level: int) -> str:
    return p(r(text), f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>')


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        ([("decimal", "%1."), ("lowerLetter", "(%2)")], "1. One\n   - (a) Two\n   - (b) Three\n2. Four\n"),
        (
            [("upperRoman", "Article %1."), ("decimal", "%1.%2")],
            "- Article I. One\n  - I.1 Two\n  - I.2 Three\n- Article II. Four\n",
        ),
        ([("decimal", "Step %1:"), ("decimal", "%2)")], "- Step 1: One\n  1. Two\n  2. Three\n- Step 2: Four\n"),
        ([("decimal", "%1"), ("decimal", "%1.%2.")], "1. One\n   - 1.1. Two\n   - 1.2. Three\n2. Four\n"),
        ([("decimal", "(%1)"), ("upperLetter", "%2")], "- (1) One\n  - A Two\n  - B Three\n- (2) Four\n"),
        ([("ganada", ""), ("bullet", "\u2022")], "1. One\n   - Two\n   - Three\n2. Four\n"),
    ],
)  # fmt: skip
def test_items_have_the_numbers_that_word_shows(
    make_docx: MakeDocx, levels: list[tuple[str, str]], text: str
) -> None:
    body = numbered("One", 0) + numbered("Two", 1) + numbered("Three", 1) + numbered("Four", 0)
    assert read(make_docx(body, numbering=numbering(*levels))).text == text


def test_cells_merged_across_cell_by_cell_are_repeated(make_docx: MakeDocx) -> None:
    def cell(text: str, merge: str = "") -> str:
        return f"<w:tc><w:tcPr>{merge}</w:tcPr>{p(r(text))}</w:tc>"

    across = cell("A", '<w:hMerge w:val="restart"/>') + cell("", "<w:hMerge/>") + cell("B")
    table = f"<w:tbl><w:tr>{across}</w:tr><w:tr>{cell('1')}{cell('2')}{cell('3')}</w:tr></w:tbl>"
    assert read(make_docx(table)).text == "| A | A | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n"
