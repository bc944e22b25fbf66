"""How a shard between two stages is written down, by a runner that has to."""

from __future__ import annotations

import pickle
from typing import Any

from apache_beam import coders

from transforms.stages.work import ChunkedShard, EmbeddedShard, ExtractedShard, ReadShard


class ShardCoder(coders.Coder):
    """Pickles shards, and only to send them.

    Beam's metrics sample the sizes of elements by encoding them, and the first ones of a stage always. Of
    elements as large as shards, that took a seventh of a run's CPU and as much memory again.
    """

    def encode(self, value: Any) -> bytes:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)

    def decode(self, encoded: bytes) -> Any:
        return pickle.loads(encoded)  # noqa: S301 - from another stage of the same pipeline

    def estimate_size(self, value: Any) -> int:  # noqa: ARG002 - it is not worth looking
        return 0

    def is_deterministic(self) -> bool:
        return False


def use_shard_coder() -> None:
    """Let Beam encode what goes from stage to stage by :class:`ShardCoder`."""
    for kind in (ReadShard, ExtractedShard, ChunkedShard, EmbeddedShard):
        coders.registry.register_coder(kind, ShardCoder)
