"""What a reader of a store asks, in its own library's terms or not."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Question:
    vector: np.ndarray
    """As float32, of the rows' dimension."""
    terms: dict[int, float]
    """Ids of terms, ascending, with their weights: inverse document frequencies are in them."""
    words: str
    """Words of the text that are to be found, for an index of words."""
