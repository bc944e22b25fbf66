"""The error tree: what a person must mend, and what a document did.

``RejectedError`` is a data fault: it ends in one row of the rejected table and the run goes on. The
others end the run; each names its exit code. Programming errors are none of these and crash.
"""

from __future__ import annotations


class ParquetryError(Exception):
    """Something that a person can act on; its text is the whole message."""

    exit_code = 1


class ConfigError(ParquetryError):
    """The configuration or the call is wrong; nothing was written."""

    exit_code = 2


class TableError(ParquetryError):
    """The table's place holds something that is no table, or one this program cannot continue."""

    exit_code = 2


class NewerTableError(TableError):
    """A newer program wrote the table: this one leaves it alone."""

    exit_code = 4


class GuardError(ParquetryError):
    """A guard refused to publish, or another run holds the table."""

    exit_code = 4


class BudgetReachedError(GuardError):
    """The run may send no more texts: its budget is used up. What was done is kept for the next run."""


class StorageError(ParquetryError):
    """A store answered with an error that no retry mends, or went on failing."""


class CredentialsError(StorageError):
    """The store does not accept this identity, or no longer: nothing can be read or written before it is renewed."""


class NotFoundError(StorageError):
    """There is no object, folder or bucket of that name."""


class TooLargeError(StorageError):
    """The object has more bytes than the caller allows."""


class PreconditionError(StorageError):
    """Another writer was there first."""


class RejectedError(Exception):
    """One document cannot be indexed.

    ``reason`` is a slug that people filter by (``pdf_encrypted``), ``detail`` a sentence for them.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}"
