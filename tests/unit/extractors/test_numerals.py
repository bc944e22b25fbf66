"""Numbers in letters and in Roman numerals."""

import pytest

from transforms.extractors.numerals import letters, roman


@pytest.mark.parametrize(
    ("number", "in_letters", "in_roman"),
    [
        (1, "a", "i"), (4, "d", "iv"), (26, "z", "xxvi"), (27, "aa", "xxvii"), (53, "aaa", "liii"),
        (99, "uuuu", "xcix"),
        (0, "0", "0"), (-3, "-3", "-3"), (3999, "3999", "mmmcmxcix"), (4000, "4000", "4000"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_word_counts(number: int, in_letters: str, in_roman: str) -> None:
    assert (letters(number), roman(number)) == (in_letters, in_roman)
