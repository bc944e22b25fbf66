"""What is read out of HTML pages."""

import pytest

from transforms.extractors.html import extract_html
from transforms.extractors.settings import ExtractSettings
from transforms.model.document import BlockKind, Document
from transforms.model.errors import RejectedError


def read(body: str, **settings: object) -> Document:
    return extract_html(
        f"<html><body>{body}</body></html>".encode(), ExtractSettings.model_validate(settings)
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<h2>A <em>b</em></h2><p>c<br>d</p>", "## A b\n\nc\n\nd\n"),
        ("<h1>T<a class=headerlink href=#t>¶</a></h1><p>x", "# T\n\nx\n"),
        ('<h2><a href="#x">¶</a>Head</h2><p>x', "## Head\n\nx\n"),
        ('<h2><a href="#x">Head</a> of #5</h2><p>x', "## Head of #5\n\nx\n"),
        ("a<span>b</span>c <div>d</div> e", "abc\n\nd\n\ne\n"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c\n"),
        ("<ol start=3><li>a<li>b</ol>", "3. a\n4. b\n"),
        ("<ol><li>Run:<pre>x = 1</pre></ol>", "1. Run:\n\n```\nx = 1\n```\n"),
        ('<pre><code class="language-python">a\n  b</code></pre>', "```python\na\n  b\n```\n"),
        ("<p>dis\u00adcuss <a href=x>this</a>", "discuss this\n"),
        ("<p>1 < 2 & 3", "1 < 2 & 3\n"),
        ("<header><h1>Pumps</h1><p>Ann</p></header><p>Text.", "# Pumps\n\nAnn\n\nText.\n"),
        ("<header><h1><a href=/>Site</a></h1></header><p>Text.", "Text.\n"),
        (
            "<p>Top</p><form><h1>Hours</h1><p>Open from nine to five.</form>",
            "Top\n\n# Hours\n\nOpen from nine to five.\n",
        ),
        (
            "<p>Write to us about it.</p><form><label>Your name and mail address <input></label></form>",
            "Write to us about it.\n",
        ),
    ],
)
def test_what_a_reader_sees_becomes_markdown(body: str, text: str) -> None:
    assert read(body).text == text


X_IS_1 = "<math><mi>x</mi><mo>=</mo><mn>1</mn></math>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<p>Let {X_IS_1}, then", "Let x = 1, then\n"),
        (f"<ul><li>{X_IS_1}</ul>", "- x = 1\n"),
        (f"<h1>On {X_IS_1}</h1><p>y", "# On x = 1\n\ny\n"),
        (
            "<math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math>",
            "(a + b)/2\n",
        ),
        (
            "<math><msup><mi>x</mi><mn>2</mn></msup><mo>-</mo><msub><mi>y</mi><mi>i</mi></msub></math>",
            "x^2 - y_i\n",
        ),
        ("<math><mo>-</mo><mi>x</mi><mo>=</mo><msqrt><mn>2</mn></msqrt></math>", "-x = √2\n"),
        ("<math><mi>f</mi><mo>&#x2061;</mo><mo>(</mo><mi>x</mi><mo>)</mo></math>", "f(x)\n"),
        (
            "<math><semantics><mi>x</mi><annotation encoding='application/x-tex'>\\x</annotation></semantics></math>",
            "x\n",
        ),
        (f'<span><span>{X_IS_1}</span><span aria-hidden="true">x=1</span></span>', "x = 1\n"),
    ],
)
def test_a_formula_is_written_on_the_line_once(body: str, text: str) -> None:
    assert read(body).text == text


def test_a_table_is_rows_with_pipes_and_merged_cells_are_repeated() -> None:
    body = (
        "<table><caption>C</caption><tr><th>a<th>b<th>c</tr>"
        "<tr><td rowspan=2>x<td colspan=2>y</tr><tr><td>z<td>w|v</tr></table>"
    )
    document = read(body)
    assert document.text == "C\n\n| a | b | c |\n| --- | --- | --- |\n| x | y | y |\n| x | z | w\\|v |\n"
    assert document.blocks[1].kind is BlockKind.TABLE


@pytest.mark.parametrize(
    ("head", "text"),
    [
        (
            "<thead><tr><th rowspan=2>Part<th colspan=2>Price</tr><tr><td>net<td>gross</tr></thead>",
            "| Part | Price net | Price gross |",
        ),
        (
            "<tr><th>Part<th colspan=2>Price</tr><tr><th><th>net<th>gross</tr>",
            "| Part | Price net | Price gross |",
        ),
        ("<tr><th colspan=3>List</tr><tr><th>Part<th>net<th>gross</tr>", "List\n\n| Part | net | gross |"),
        ("<tr><th>Part<th>net<td>gross</tr><tr><th>x<th>y<th>z</tr>", "| Part | net | gross |"),
        ("<tr><th>Part<th>net<th>gross</tr><tr><th colspan=3>Bolts</tr>", "| Part | net | gross |"),
    ],
)
def test_heads_of_columns_that_stand_over_each_other_are_one_head(head: str, text: str) -> None:
    written = read(f"<table>{head}<tr><td>bolt<td>1<td>2</tr></table>").text
    assert written.startswith(f"{text}\n| --- | --- | --- |\n")
    assert written.endswith("| bolt | 1 | 2 |\n")


def test_a_table_of_nothing_but_heads_keeps_its_rows() -> None:
    text = read("<table><tr><th>a<th>b</tr><tr><th>c<th>d</tr></table>").text
    assert text == "| a | b |\n| --- | --- |\n| c | d |\n"


def test_a_table_around_others_arranges_them_and_each_cell_comes_once() -> None:
    inner = "<table><tr><td>a<td>b</tr><tr><td>c<td>d</tr></table>"
    text = read(f"<table><tr><td>left<td>{inner}</tr></table>").text
    assert text == "left\n\n| a | b |\n| --- | --- |\n| c | d |\n"


def test_a_cell_that_claims_to_span_millions_is_refused() -> None:
    rows = "<tr><td rowspan=1000 colspan=1000>x<td>y</tr>" * 400
    with pytest.raises(RejectedError, match="too_large"):
        read(f"<table>{rows}</table>")


MENU = "<div class=menu><a href=a>Home</a> <a href=b>Shop</a></div>"


def test_menus_headers_and_footers_are_left_out() -> None:
    links = "<ul>" + "".join(f"<li><a href={n}>Link {n}</a>" for n in range(5)) + "</ul>"
    body = f"<header>Site</header><nav>Nav</nav>{MENU}{links}<p>The content of this page.</p><footer>Foot</footer>"
    assert read(body).text == "The content of this page.\n"
    assert "Site" in read(body, main_content=False).text


def test_a_list_of_links_in_marked_content_stays() -> None:
    links = "".join(f"<li><a href={n}>Paper {n}</a>" for n in range(1, 6))
    words = "word " * 30
    assert "- Paper 5" in read(f"<nav>x</nav><main><p>{words}</p><ul>{links}</ul></main>").text


def test_a_page_of_nothing_but_links_is_its_links() -> None:
    links = "".join(f"<li><a href={n}>Page {n}</a>" for n in range(1, 6))
    assert read(f"<ul>{links}</ul>").text.startswith("- Page 1\n- Page 2")


def test_the_header_of_an_article_holds_its_title() -> None:
    words = "word " * 30
    assert read(
        f"<header>Site</header><article><header><h1>T</h1></header>{words}</article>"
    ).text.startswith("# T\n")


def test_hidden_text_and_scripts_are_left_out() -> None:
    body = '<p>seen<script>f()</script><p hidden>a<p style="display: none">b'
    assert read(body).text == "seen\n"
    assert read(body, hidden_text="keep").text == "seen\n\na\n\nb\n"


def test_title_language_author_and_dates_are_metadata() -> None:
    data = (
        b'<html lang=de><head><title> A\n b </title><meta name=author content="Ada">'
        b'<meta property="article:published_time" content="2024-05-01"></head><body>x</body></html>'
    )
    document = extract_html(data, ExtractSettings())
    assert (document.title, document.language) == ("A b", "de")
    assert document.metadata == {"author": "Ada", "created": "2024-05-01"}


def test_a_page_that_a_script_makes_has_no_text() -> None:
    with pytest.raises(RejectedError, match="no_text"):
        read("<div id=root></div><script>render()</script>")


def test_text_below_and_behind_deep_boxes_is_kept() -> None:
    for depth in (255, 1_500, 20_000):
        page = "<p>Top</p>" + "<div>" * depth + "deep" + "</div>" * depth + "<p>After text.</p>"
        assert read(page).text == "Top\n\ndeep\n\nAfter text.\n"


def test_lists_that_are_never_closed_are_kept_as_deep_as_they_go() -> None:
    text = read("<p>Top</p>" + "<ul><li>item " * 400 + "<p>end").text
    assert text.count("item") == 400
    assert "end" in text


def test_a_page_deeper_than_any_parser_goes_is_read_without_what_nests() -> None:
    document = read("<h1>Top</h1>" + "<b>" * 3_000 + "de<i>ep</i>" + "</b>" * 3_000 + "<p>After")
    assert document.text == "# Top\n\ndeep\n\nAfter\n"
    assert document.warnings == ("structure_flattened",)
    quotes = read(
        "<blockquote>one" * 2_500 + "<table><tr><td>cell<script>no()</script></table>" + "<h2>End</h2>"
    )
    assert quotes.text.startswith("one\n\none\n\n")
    assert quotes.text.endswith("one\n\ncell\n\n## End\n")


def test_headings_that_are_never_closed_are_refused_and_not_cut_when_they_are_too_deep() -> None:
    with pytest.raises(RejectedError) as refused:
        read("<pre><p>" * 3_000 + "deep")
    assert refused.value.reason == "too_deep"


def test_readings_above_characters_are_left_out() -> None:
    page = (
        "<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>を<ruby><rb>読</rb><rt>よ</rt></ruby>む</p>"
    )
    assert read(page).text == "漢字を読む\n"


@pytest.mark.parametrize(
    ("inside", "code"),
    [
        ("a = 1<br>b = 2<br/>    c", "a = 1\nb = 2\n    c"),
        ("<div>a</div><div>b</div>", "a\nb"),
        ("x<div>a</div>y<div></div>z", "x\na\nyz"),
        ("<div>a</div>\n<div>b\n</div><div>c</div>", "a\nb\nc"),
        ("<ol><li>a</li><li>b</li></ol>", "a\nb"),
        ("<code><span>x</span> = <span>1</span>\n</code><button>Copy</button>", "x = 1"),
    ],
)
def test_code_keeps_the_lines_that_elements_part(inside: str, code: str) -> None:
    assert read(f"<pre>{inside}</pre>").text == f"```\n{code}\n```\n"


def test_text_behind_a_list_or_code_in_an_item_stays_behind_it() -> None:
    page = "<ol><li>Run <pre>make</pre> and wait.</li><li>Next<ul><li>inner</li></ul>tail</li><li><pre>x</pre>Last</ol>"
    assert read(page).text == (
        "1. Run\n\n```\nmake\n```\n\nand wait.\n\n2. Next\n   - inner\n\ntail\n\n```\nx\n```\n\n3. Last\n"
    )


@pytest.mark.parametrize(
    ("page", "numbers"),
    [
        ("<ol><li value=5>a<li>b</ol>", "5. a\n6. b\n"),
        ("<ol start=3><li>a<li value=7>b</ol>", "3. a\n7. b\n"),
        ("<ol><li><pre>x</pre><li>b</ol>", "```\nx\n```\n\n2. b\n"),
        ("<ol reversed><li>a<li>b<li>c</ol>", "3. a\n2. b\n1. c\n"),
        ("<ol type=a start=2><li>x<li>y</ol>", "- b. x\n- c. y\n"),
        ("<ol type=I><li>x<li type=1>y</ol>", "- I. x\n2. y\n"),
        ("<ol style='list-style-type: lower-roman'><li value=4>x</ol>", "- iv. x\n"),
        ("<ol style='list-style: upper-alpha inside'><li>x<li><ul><li>y</ul></ol>", "- A. x\n  - y\n"),
        ("<ol start=x><li value='-1'>a<li>b</ol>", "1. a\n2. b\n"),
    ],
)
def test_items_have_the_numbers_that_the_page_shows(page: str, numbers: str) -> None:
    assert read(page).text == numbers


def test_the_foot_of_a_table_is_its_last_row_and_a_cell_may_span_all_rows_that_are_left() -> None:
    page = (
        "<table><thead><tr><th>a<th>b</thead><tfoot><tr><td>sum<td>3</tfoot>"
        "<tbody><tr><td rowspan=0>x<td>1<tr><td>2</tbody></table>"
    )
    assert read(page).text.splitlines() == [
        "| a | b |",
        "| --- | --- |",
        "| x | 1 |",
        "| x | 2 |",
        "| sum | 3 |",
    ]


def test_brackets_of_formulas_may_be_attributes() -> None:
    fenced = "<mfenced{}><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfenced>"
    assert read(f"<p><math>{fenced.format('')}</math></p>").text == "(a + b, c)\n"
    assert (
        read(f"<p><math>{fenced.format(' open=[ close=] separators=;')}</math></p>").text == "[a + b; c]\n"
    )


def test_items_and_cells_without_a_list_or_table_are_blocks() -> None:
    assert read("<p>one<li>two<td>three<tr><td>four").text == "one\n\ntwo\n\nthree\n\nfour\n"


def test_boxes_of_a_list_of_tasks_say_whether_they_are_ticked() -> None:
    box = '<input type="checkbox" disabled{}>'
    assert read(
        f"<ul><li>{box.format(' checked')}Oil<li>{box.format('')} Belt<li><input value=x>Bolt</ul>"
    ).text == ("- [x] Oil\n- [ ] Belt\n- Bolt\n")
