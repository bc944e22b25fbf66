"""The requests of one call, several in flight: results in order, and the first error ends what has not begun."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from transforms.embedders.protocol import StoppedError
from transforms.embedders.request import HaltedError
from transforms.model.errors import BudgetReachedError, ParquetryError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from transforms.embedders.lengths import Piece
    from transforms.embedders.request import Halt


def in_threads(
    work: Callable[[list[Piece]], NDArray[np.float32]],
    requests: Sequence[list[Piece]],
    threads: int,
    halt: Halt,
) -> tuple[list[NDArray[np.float32] | None], ParquetryError | None]:
    """The results in order, None for what was not done, and the first error.

    An error stops what has not begun, and what waits. A used-up budget lets the requests finish that it paid for.

    Args:
        work: the vectors of one request's pieces, in order.
        requests: the pieces of each request.
        threads: requests in flight, at most.
        halt: pulled at an error other than that of the budget.
    """
    results: list[NDArray[np.float32] | None] = [None] * len(requests)
    errors: list[ParquetryError] = []

    def run(place: int) -> None:
        if errors:
            return
        try:
            results[place] = work(requests[place])
        except HaltedError:
            pass
        except StoppedError as stopped:
            results[place] = stopped.vectors
            errors.append(stopped.cause)
        except ParquetryError as error:
            errors.append(error)
            if not isinstance(error, BudgetReachedError):
                halt.pull()

    if len(requests) <= 1 or threads == 1:
        for place in range(len(requests)):
            run(place)
    else:
        with ThreadPoolExecutor(min(threads, len(requests))) as pool:
            for future in [pool.submit(run, place) for place in range(len(requests))]:
                future.result()
    return results, errors[0] if errors else None
