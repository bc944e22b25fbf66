"""Tables and cells are those of pdfplumber, found sooner."""

from hypothesis import given
from hypothesis import strategies as st
from pdfplumber.table import edges_to_intersections, intersections_to_cells
from pdfplumber.utils.text import extract_text

from transforms.extractors.pdf_cells import GAP, Character, cell_text
from transforms.extractors.pdf_tables import Edge, crossing_cells, ruled_tables, table_rows

PLACES = st.sampled_from([0.0, 10.0, 20.0, 30.0, 40.0])


def edge(x0: float, top: float, length: float, *, upright: bool) -> dict[str, object]:
    x1, bottom = (x0, top + length) if upright else (x0 + length, top)
    size = {"width": x1 - x0, "height": bottom - top, "doctop": top, "object_type": "line"}
    return {
        "x0": x0,
        "top": top,
        "x1": x1,
        "bottom": bottom,
        "orientation": "v" if upright else "h",
        **size,
    }


@given(
    st.lists(
        st.builds(edge, PLACES, PLACES, st.sampled_from([10.0, 20.0, 40.0]), upright=st.booleans()),
        max_size=16,
    )
)
def test_cells_are_those_of_pdfplumber(edges: list[dict[str, object]]) -> None:
    crossings = edges_to_intersections(edges, 3, 3)
    assert list(crossing_cells(crossings)) == intersections_to_cells(crossings)


def as_pdfplumber(characters: list[Character]) -> list[dict[str, object]]:
    return [
        {
            "text": text, "x0": x0, "top": top, "x1": x1, "bottom": bottom, "doctop": top,
            "upright": True, "width": x1 - x0, "height": bottom - top, "size": bottom - top,
        }
        for _, text, (x0, top, x1, bottom) in characters
    ]  # fmt: skip


@st.composite
def characters(draw: st.DrawFn) -> list[Character]:
    found = []
    for position in range(draw(st.integers(1, 14))):
        left = draw(st.integers(0, 60))
        top = draw(st.sampled_from([0.0, 1.0, 2.5, 4.0, 12.0, 13.0, 30.0]))
        text = draw(st.sampled_from("abc1 .-é"))
        found.append((position, text, (left, top, left + draw(st.integers(1, 8)), top + 10.0)))
    return found


@given(characters())
def test_the_text_of_a_cell_is_that_of_pdfplumber(found: list[Character]) -> None:
    assert cell_text(found) == extract_text(as_pdfplumber(found), x_tolerance_ratio=GAP)


def test_a_cell_that_is_written_from_right_to_left_keeps_the_order_of_the_text() -> None:
    word = "\u05e9\u05dc\u05d5\u05dd"
    letters = [(n, letter, (40.0 - 10 * n, 0.0, 50.0 - 10 * n, 10.0)) for n, letter in enumerate(word)]
    after = [(n + 5, letter, (-30.0 - 10 * n, 0.0, -20.0 - 10 * n, 10.0)) for n, letter in enumerate(word)]
    assert cell_text(letters) == word
    assert cell_text([*after, *letters]) == f"{word} {word}"


def test_a_merged_cell_is_repeated_in_each_place_that_it_covers() -> None:
    lines = [Edge(0, y, 30, y) for y in (0, 30)] + [Edge(10, y, 30, y) for y in (10, 20)]
    lines += [Edge(x, 0, x, 30) for x in (0, 10, 30)] + [Edge(20, 10, 20, 30)]
    [table] = ruled_tables(lines, 100, 100)
    texts = [["a", "b", None], [None, "c", "d"], [None, "e", "f"]]
    assert table_rows(table, texts) == [["a", "b", "b"], ["a", "c", "d"], ["a", "e", "f"]]
