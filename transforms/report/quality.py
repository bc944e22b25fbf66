"""Hold a snapshot against thresholds before it is published: what a person would see in its report, but at night."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transforms.report.settings import TINY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from transforms.report.figures import Figures
    from transforms.report.settings import QualitySettings

_LEAST = 20
"""Documents of which a change of languages is told: of fewer, one file is a shift."""


def faults_of(
    settings: QualitySettings, figures: Figures, languages_before: Mapping[str, int]
) -> Iterator[str]:
    """Each threshold that is passed, in words.

    Args:
        settings: the thresholds.
        figures: of the snapshot to be published.
        languages_before: documents by language in the last snapshot; empty where there is none.
    """
    chunks, documents = figures.chunks_seen, figures.documents_seen
    for key, found, of, what in (
        ("max_tiny_share", figures.tiny, chunks, f"chunks have less than {TINY} characters"),
        ("max_oversize_share", figures.oversize, chunks, "chunks are longer than size.max"),
        ("max_repeated_share", figures.repeated, chunks, "chunks have a text that another chunk has"),
        ("max_empty_share", figures.without_vector, chunks, "chunks have no vector"),
        ("max_suspect_share", figures.suspect, documents, "documents have a text that may be garbage"),
        (
            "max_stale_share",
            figures.stale,
            documents,
            "documents keep old rows because they cannot be read",
        ),
    ):
        most = getattr(settings, key)
        if most is not None and found > most * of:
            yield f"{found:,} of {of:,} {what}, more than quality.{key} = {most} allows"
    most = settings.max_language_shift
    moved = shift(languages_before, figures.languages)
    if most is not None and moved > most and sum(languages_before.values()) >= _LEAST:
        yield (
            f"the languages of documents moved by {moved:.2f} from the last snapshot, more than "
            f"quality.max_language_shift = {most} allows"
        )


def shift(before: Mapping[str, int], after: Mapping[str, int]) -> float:
    """The total variation distance of two distributions: 0 the same, 1 nothing in common; 0 where one is empty."""
    all_before, all_after = sum(before.values()), sum(after.values())
    if not all_before or not all_after:
        return 0.0
    keys = before.keys() | after.keys()
    return sum(abs(before.get(key, 0) / all_before - after.get(key, 0) / all_after) for key in keys) / 2
