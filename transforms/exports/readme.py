"""The page beside an export that says what it holds and how it is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transforms.exports.place import Manifest
    from transforms.exports.profile import Profile


def readme(profile: Profile, manifest: Manifest, to: str) -> str:
    """Markdown."""
    what = (
        f"all of snapshot {manifest.snapshot}"
        if manifest.since is None
        else f"what leads from snapshot {manifest.since} to {manifest.snapshot}"
    )
    refused = "".join(f"| {reason} | {count:,} |\n" for reason, count in manifest.refused.items())
    files = "".join(f"| {file.path} | {file.rows:,} | {file.bytes:,} |\n" for file in manifest.files[:50])
    load = profile.load if manifest.since is None else profile.load_changes or profile.load
    more = (
        f"\nAnd {len(manifest.files) - 50:,} files more: see export.json.\n"
        if len(manifest.files) > 50
        else ""
    )
    return (
        f"# Export for {profile.title}\n\n"
        f"It holds {what} of {manifest.table}: {manifest.upserts:,} rows to write and {manifest.deletes:,} ids to "
        f"delete, vectors of {manifest.dimension:,} numbers by {manifest.model}. It is complete if export.json is "
        "here, which was written last.\n\n"
        f"## Loading it\n\n{load.format(name=manifest.name, to=to, folder=profile.folder)}\n\n"
        f"{_sparse(profile, manifest)}"
        f"## Files\n\n| file | rows | bytes |\n| --- | ---: | ---: |\n{files}{more}"
        + (
            f"\n## Rows that {profile.title} cannot take\n\n| reason | rows |\n| --- | ---: |\n{refused}"
            "\nThey are named in refused/.\n"
            if manifest.refused
            else ""
        )
    )


def _sparse(profile: Profile, manifest: Manifest) -> str:
    """What goes along for searches by words, and what a question needs for it."""
    if manifest.sparse is None:
        return ""
    note = f" {profile.sparse.note}" if profile.sparse and profile.sparse.note else ""
    return (
        f"## Sparse vectors\n\nSparse vectors by {manifest.sparse} go along. They are compared by the inner product; "
        "those of BM25 with a question's terms, each weighed by its inverse document frequency, as `terms.parquet` of "
        f"the snapshot has it.{note}\n\n"
    )
