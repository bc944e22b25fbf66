"""One export at work: rows are screened, written, and named if they are refused; the end says what came of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.exports.files import Cap, ExportedFile, ParquetParts, TextOutput, written
from transforms.exports.place import FORMAT, README, REFUSED, Manifest, complete
from transforms.exports.profile import Files
from transforms.exports.readme import readme
from transforms.exports.rules import ID, Rule, encoded_bytes, first_broken, vector_rules
from transforms.exports.sparse import sparse_rules
from transforms.model.errors import ConfigError, GuardError
from transforms.model.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from transforms.exports.files import Output
    from transforms.exports.profile import Job, Profile, Rows
    from transforms.storage.protocol import Store

MODEL = "embed_model"
_REFUSED_ROWS = 10**6
_SHOWN_IDS = 1_000
"""Characters of an id or of a document's name that the table of refused rows keeps."""


class TooManyRefusedError(GuardError):
    """More rows than allowed are not in the export."""

    exit_code = 3


@dataclass
class Run:
    """One export at work."""

    job: Job
    profile: Profile
    form: Rows
    store: Store
    rows: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.output = self.form.upserts(self.job)
        self.rules = (
            Rule("other_model", f"vectors are of model {self.job.model}", self._of_other_model),
            *vector_rules(self.job.dimension),
            *(() if self.job.sparse is None else sparse_rules(self.job.sparse)),
            *self.form.rules(self.job),
        )
        self.encoded_rules = (*self.output.rules, *_row_size(self.output))
        self.upserts = self.output.open(self.store)
        deletes = self.form.deletes(self.job) if self.form.deletes and self.job.since is not None else None
        self.delete_output, self.deletes = deletes, deletes.open(self.store) if deletes else None
        self.deleted = 0
        self.refusals = ParquetParts(self.store, REFUSED + "part-{:06}.parquet", Cap(_REFUSED_ROWS, 2**26))

    def upsert(self, batch: pa.RecordBatch) -> None:
        """Write the rows that the store takes."""
        kept = self._left_out(batch, batch, self.rules)
        if not kept.num_rows:
            return
        encoded = self.output.encode(kept)
        bad = first_broken(encoded, self.encoded_rules)
        if (bad >= 0).any():
            self._left_out(kept, encoded, self.encoded_rules)
            encoded = encoded.filter(pa.array(bad < 0))
            kept = kept.filter(pa.array(bad < 0))
        self.rows += encoded.num_rows
        self.upserts.add(encoded)
        if self.form.delete_first:
            self._delete(kept[ID])

    def delete(self, ids: Iterator[pa.Array]) -> None:
        """Write ids to delete."""
        for some in ids:
            self._delete(some)

    def end(self, share: float) -> Manifest:
        """Write what is left, and say that the export is complete."""
        upserts = tuple(self.upserts.close())
        deletes = tuple(self.deletes.close()) if self.deletes else ()
        refusals = tuple(self.refusals.close())
        self._guard(share)
        self._count_files(len(upserts) + len(deletes))
        beside = self.form.beside(self.job, Files(upserts, deletes))
        others = tuple(written(self.store, path, text.encode(), 0) for path, text in sorted(beside.items()))
        files = (*upserts, *deletes, *others, *refusals)
        return completed(self.job, self.profile, self.store, files, self.rows, self.deleted, self.refused)

    def _of_other_model(self, batch: pa.RecordBatch) -> pa.Array:
        return pc.not_equal(batch[MODEL], self.job.model)

    def _left_out(
        self, rows: pa.RecordBatch, judged: pa.RecordBatch, rules: Sequence[Rule]
    ) -> pa.RecordBatch:
        """The rows that break no rule; the others are recorded, and in a change feed deleted."""
        place = first_broken(judged, rules)
        bad = np.flatnonzero(place >= 0)
        if not len(bad):
            return rows
        broken = [rules[int(place[row])] for row in bad]
        self.refused.update(rule.reason for rule in broken)
        out = rows.take(pa.array(bad))
        self.refusals.add(
            pa.RecordBatch.from_pydict(
                {
                    **{
                        name: pc.utf8_slice_codeunits(out[name], 0, _SHOWN_IDS)
                        for name in (ID, "source_name", "doc_id")
                    },
                    "reason": [rule.reason for rule in broken],
                    "detail": [rule.detail for rule in broken],
                }
            )
        )
        # What cannot be an id in the store is not there.
        known = pa.array([not rule.reason.startswith("id_") for rule in broken])
        self._delete(out[ID].filter(known))
        return rows.filter(pa.array(place < 0))

    def _delete(self, ids: pa.Array) -> None:
        if self.deletes is None or self.delete_output is None or not len(ids):
            return
        batch = pa.RecordBatch.from_pydict({ID: ids})
        self.deletes.add(self.delete_output.encode(batch))
        self.deleted += len(ids)

    def _guard(self, share: float) -> None:
        refused, total = self.refused.total(), self.refused.total() + self.rows
        if refused > share * total:
            reasons = ", ".join(f"{reason} {count:,}" for reason, count in self.refused.most_common())
            raise TooManyRefusedError(
                f"{self.profile.title} would refuse {refused:,} of {total:,} rows ({reasons}), and {share:.2%} may be: "
                f"see {self.store.uri(REFUSED)}. Choose other --columns, or allow more with --max-refused-share."
            )

    def _count_files(self, count: int) -> None:
        most = self.profile.most_files
        if most is not None and count > most:
            raise ConfigError(
                f"{self.profile.title} takes {most:,} files at once, and this would be {count:,}: export the sources "
                "one by one, with --source."
            )


def completed(
    job: Job,
    profile: Profile,
    store: Store,
    files: tuple[ExportedFile, ...],
    upserts: int | None = None,
    deletes: int = 0,
    refused: Mapping[str, int] = MappingProxyType({}),
) -> Manifest:
    """Say that everything is there. Left out, ``upserts`` are the rows of all files."""
    manifest = Manifest(
        format=FORMAT,
        profile=profile.name,
        name=job.name,
        table=job.table,
        snapshot=job.snapshot,
        since=job.since,
        created_at=job.created_at,
        program=VERSION,
        dimension=job.dimension,
        model=job.model,
        sparse=None if job.sparse is None else job.encoder,
        columns=job.names,
        upserts=sum(file.rows for file in files) if upserts is None else upserts,
        deletes=deletes,
        refused=dict(sorted(refused.items())),
        files=files,
    )
    store.write(README, readme(profile, manifest, job.to).encode())
    complete(store, manifest)
    return manifest


def _row_size(output: Output) -> tuple[Rule, ...]:
    if not isinstance(output, TextOutput):
        return ()
    return (
        encoded_bytes(
            "line", output.cap.bytes - output.frame.size, "row_too_large", "a row as it is sent has"
        ),
    )
