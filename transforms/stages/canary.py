"""Notice that a model behind a server has changed under its name, before its vectors are mixed.

A run that has something to embed embeds a few texts of the last snapshot again and compares. Models in
files need no such check: the recipe has their hashes.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from transforms.embedders.protocol import StoppedError
from transforms.embedders.settings import ServerSettings
from transforms.model.errors import BudgetReachedError, GuardError
from transforms.stages.embedder import embedder_of
from transforms.stages.noted import note
from transforms.storage.registry import open_store
from transforms.table.reader import Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from transforms.embedders.protocol import Embedder
    from transforms.stages.job import Job

CANARIES = 5
_LOG = logging.getLogger(__name__)


def check_drift(job: Job) -> None:
    """Compare a few vectors of the last snapshot with what the server gives for their texts today.

    Raises:
        GuardError: they differ by more than ``max_drift``, and ``on_drift`` is ``refuse``; or the budget does
            not reach for so much.
        ParquetryError: the server cannot be used.
    """
    settings = job.embedder
    if job.parent is None or not isinstance(settings, ServerSettings) or settings.on_drift == "ignore":
        return
    embedder = embedder_of(job)
    texts, known = _canaries(Snapshot.open(open_store(job.table), job.parent), embedder.name)
    try:
        found = drift(embedder, texts, known) if texts else 0.0
    except StoppedError as stopped:
        if not isinstance(stopped.cause, BudgetReachedError):
            raise stopped.cause from stopped
        raise GuardError(
            f"Nothing was published: the budget of {job.budget_tokens or 0:,} tokens (limits.max_tokens, "
            f"limits.max_cost) does not reach for {len(texts)} texts of the table that are embedded again to notice "
            "another model under the same name. Raise it, or set `embedder.on_drift` to `ignore`."
        ) from stopped
    if found <= settings.max_drift:
        return
    sentence = (
        f"The model {settings.model} gives other vectors than it did: {found:.3f} is the largest cosine "
        f"distance to the table's vectors of {len(texts)} texts, over max_drift = {settings.max_drift:g}. "
        "New vectors would not be comparable with old ones. Name the model's version in `model`, or "
        "begin a new table."
    )
    if settings.on_drift == "refuse":
        raise GuardError(f"Nothing was published. {sentence}")
    _LOG.warning("%s", sentence)
    note(job, sentence)


def drift(embedder: Embedder, texts: list[str], known: NDArray[np.float32]) -> float:
    """The largest cosine distance between the known vectors of texts and those of today.

    A text that has no vector today is not compared.
    """
    today = embedder.embed(texts).astype(np.float64)
    before = known.astype(np.float64)
    lengths = np.sqrt(np.add.reduce(today**2, axis=1) * np.add.reduce(before**2, axis=1))
    distances = 1 - np.add.reduce(today * before, axis=1) / lengths
    return max((float(one) for one in distances if np.isfinite(one)), default=0.0)


def _canaries(snapshot: Snapshot, model: str) -> tuple[list[str], NDArray[np.float32]]:
    """The first texts of the snapshot that ``model`` made a vector of, each once."""
    found: dict[str, list[float]] = {}
    for batch in snapshot.chunks(["embed_text", "embedding", "embed_model"]):
        for row in batch.slice(0, 10 * CANARIES).to_pylist():
            if row["embed_model"] == model and row["embedding"] is not None and len(found) < CANARIES:
                found.setdefault(row["embed_text"], row["embedding"])
        if len(found) == CANARIES:
            break
    return list(found), np.array(list(found.values()), dtype=np.float32)
