"""Joins what two searches of one store have found, where the store does not."""

from collections import Counter


def fused(most, *found):
    """Reciprocal ranks summed up: ids that are high in either list, best first."""
    ranks = Counter()
    for ids in found:
        ranks.update({key: 1 / (60 + rank) for rank, key in enumerate(ids, 1)})
    return [key for key, _ in ranks.most_common(most)]
