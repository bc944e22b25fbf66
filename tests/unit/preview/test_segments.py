"""Which stretches of a text are shown, and which chunks lie over each."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.preview.segments import Segment, segments
from transforms.model.chunk import Chunk, Cut, CutKind


def chunk(start: int, end: int) -> Chunk:
    return Chunk(Cut(start, end, CutKind.PACKED), "x" * (end - start), 1, "words", "x", 1)


def test_chunks_that_touch_are_a_segment_each():
    assert segments(0, 9, [chunk(0, 4), chunk(4, 9)]) == [
        Segment(0, 4, (0,), (0,)),
        Segment(4, 9, (1,), (1,)),
    ]


def test_an_overlap_is_a_segment_of_both_and_a_gap_of_none():
    assert segments(0, 12, [chunk(0, 6), chunk(4, 8), chunk(10, 12)]) == [
        Segment(0, 4, (0,), (0,)),
        Segment(4, 6, (0, 1), (1,)),
        Segment(6, 8, (1,), ()),
        Segment(8, 10, (), ()),
        Segment(10, 12, (2,), (2,)),
    ]


def test_a_chunk_that_began_on_the_page_before_does_not_begin_again():
    assert segments(5, 8, [chunk(2, 7)]) == [Segment(5, 7, (0,), ()), Segment(7, 8, (), ())]


spans = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(spans, max_size=8), spans)
def test_segments_are_the_stretch_from_end_to_end_and_know_every_chunk_over_each_place(cut, stretch):
    start, end = stretch
    chunks = [chunk(*span) for span in sorted(cut)]
    found = segments(start, end, chunks)
    assert [place for one in found for place in range(one.start, one.end)] == list(range(start, end))
    for one in found:
        for place in range(one.start, one.end):
            over = [n for n, each in enumerate(chunks) if each.cut.start <= place < each.cut.end]
            assert list(one.chunks) == over
