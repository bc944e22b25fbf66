"""What a profile declares: which rows a store takes, in which files, with what beside them, and how to check it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transforms.exports.rules import ID, VECTOR
from transforms.loaders.mapping import SPARSE
from transforms.sparse.columns import INDICES, VALUES

if TYPE_CHECKING:
    import pyarrow as pa

    from transforms.exports.checking import Folder
    from transforms.exports.files import ExportedFile, Output
    from transforms.exports.rules import Rule
    from transforms.exports.sparse import Sparse
    from transforms.table.reader import Snapshot


@dataclass(frozen=True, slots=True)
class Job:
    """What one export is about."""

    table: str
    """Root of the table."""
    snapshot: int
    since: int | None
    """The snapshot that the store holds; None exports the whole snapshot."""
    created_at: str
    """When the snapshot was published, UTC: exports have no time of their own."""
    name: str
    """Of the collection: namespace, index, table."""
    to: str
    """Where the export goes."""
    dimension: int
    model: str
    fields: tuple[pa.Field, ...]
    """Columns besides id and vectors, in the order in which they are written."""
    sparse: Sparse | None = None
    """How rows carry their sparse vector; None: they have none, the store takes none, or it is not wanted."""
    encoder: str | None = None
    """What made the sparse vectors."""

    @property
    def sparse_name(self) -> str | None:
        """The name of a column that is the sparse vector, where the store has one of that kind."""
        return SPARSE if self.sparse is not None and not self.sparse.columns else None

    @property
    def names(self) -> tuple[str, ...]:
        """Of all columns that are written."""
        sparse = () if self.sparse_name is None else (self.sparse_name,)
        return (ID, VECTOR, *sparse, *(field.name for field in self.fields))

    @property
    def read(self) -> tuple[str, ...]:
        """Of all columns of the table that this takes."""
        sparse = () if self.sparse_name is None else (INDICES, VALUES)
        return (ID, VECTOR, *sparse, *(field.name for field in self.fields))


@dataclass(frozen=True, slots=True)
class Files:
    """What was written of rows and of deletes."""

    upserts: tuple[ExportedFile, ...]
    deletes: tuple[ExportedFile, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """Where a folder breaks a published rule."""

    path: str
    rule: str
    detail: str


Check = Callable[["Folder"], Iterator[Fault]]


def anything(_kind: pa.DataType) -> bool:
    """Every column can be written."""
    return True


@dataclass(frozen=True, slots=True)
class Rows:
    """An export that writes the table's rows anew."""

    rules: Callable[[Job], tuple[Rule, ...]]
    """Of the table's rows."""
    upserts: Callable[[Job], Output]
    deletes: Callable[[Job], Output] | None
    """None: ``Profile.no_changes`` says why there is no form for changes."""
    beside: Callable[[Job, Files], Mapping[str, str]]
    """Definitions and scripts, path to text, given the files of rows and of deletes."""
    delete_first: bool = False
    """Whether an import only inserts, so that what it replaces has to be deleted before."""


@dataclass(frozen=True, slots=True)
class Whole:
    """An export that takes the table's files as they are."""

    publish: Callable[[Job, Snapshot, Sequence[str]], tuple[ExportedFile, ...]]
    """Makes what is at ``Job.to`` hold some sources, or all, of a snapshot; its files."""
    require: Callable[[], object]
    """Raises ConfigError where a package is missing, before anything is written."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A store's bulk import, as it is published."""

    name: str
    title: str
    sources: tuple[str, ...]
    """Pages that the rules are from."""
    folder: str
    """What the store is pointed at, below the export, with its slash; "" is the export itself."""
    columns: tuple[str, ...]
    """Written unless others are asked for."""
    most_dimensions: int
    form: Rows | Whole
    load: str
    """How a whole snapshot is loaded, for its README; ``{name}``, ``{to}`` and ``{folder}`` are filled in."""
    check: Check
    """Every fault of a folder that the store would be pointed at."""
    most_files: int | None = None
    name_pattern: str = ".{1,255}"
    """What a collection may be called."""
    no_changes: str = ""
    """Why there is no form for changes, if there is none."""
    takes: Callable[[pa.DataType], bool] = anything
    """Which types of columns can be written."""
    load_changes: str = ""
    """How changes are loaded, where that is another way."""
    sparse: Sparse | None = None
    """How the store takes sparse vectors; None: it does not."""


def nothing_beside(_job: Job, _files: Files) -> Mapping[str, str]:
    """For stores that need neither definition nor script."""
    return {}


COLUMNS = (
    "text", "source_name", "doc_id", "doc_uri", "doc_title", "doc_type", "chunk_index", "page_start",
    "page_end", "section_title", "section_path", "entity_id", "doc_number", "revision", "effective_date",
)  # fmt: skip
"""What search and filters need of a row; ids, hashes and spans of the table are left to SQL stores."""
