"""What a run is about: all of the table, or a part of it that is to be brought up to date before the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Selection:
    """Objects that meet every condition that is set. All others keep their rows, whatever has changed."""

    sources: tuple[str, ...] = ()
    """Names of sources; none: all."""
    prefix: str = ""
    """What names of objects begin with."""
    since: int | None = None
    """Objects written at that time or later, in seconds since 1970."""
    recipe: str = ""
    """What a fingerprint begins with that some row of the object was made by, of any stage."""

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return self == EVERYTHING

    def has(self, source: str) -> bool:
        """Whether the run is about any object of a source."""
        return not self.sources or source in self.sources

    def of_listing(self, listing: pa.Table, of_recipe: pa.ChunkedArray) -> NDArray[np.bool_]:
        """Which objects of a listing the run is about; ``of_recipe`` is null for those that are new."""
        chosen = self._of_names(listing["object_name"])
        if self.since is not None:
            written = pc.greater_equal(listing["modified"], self.since)
            chosen &= pc.fill_null(written, fill_value=True).to_numpy().astype(bool)
        if self.recipe:
            chosen &= pc.fill_null(of_recipe, fill_value=False).to_numpy().astype(bool)
        return chosen

    def of_gone(self, names: pa.ChunkedArray) -> NDArray[np.bool_]:
        """Which objects may go, where they are not listed any more."""
        if self.since is not None or self.recipe:
            return np.zeros(len(names), bool)
        return self._of_names(names)

    def _of_names(self, names: pa.ChunkedArray) -> NDArray[np.bool_]:
        if not self.prefix:
            return np.ones(len(names), bool)
        chosen: NDArray[np.bool_] = pc.starts_with(names, self.prefix).to_numpy().astype(bool)
        return chosen


EVERYTHING = Selection()
