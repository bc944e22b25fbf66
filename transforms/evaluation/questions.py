"""Read questions with known answers, and find the answers in the texts of the corpus."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from transforms.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHOWN = 10


class Question(BaseModel):
    """One line of the questions file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(default="", description="How reports name it; default: the number of its line.")
    question: str = Field(min_length=1, description="What is asked.")
    documents: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(), description="Documents that answer it, each on its own, as SOURCE/ID or as URI."
    )
    page: int | None = Field(default=None, ge=1, description="The page of those documents that answers it.")
    spans: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(), description="Exact stretches of the documents' texts that answer it."
    )
    language: str = Field(default="", description="To report languages apart.")

    @model_validator(mode="after")
    def _has_an_answer(self) -> Question:
        if not self.documents:
            raise ValueError("names no document that answers it")
        return self

    def is_answered_by(self, name: str) -> bool:
        """Whether the document of that name is one of those that answer; a file's name stands for its records."""
        return name in self.documents or name.split("#", maxsplit=1)[0] in self.documents


@dataclass(frozen=True, slots=True)
class Text:
    """A document of the corpus as questions see it."""

    name: str
    """SOURCE/ID."""
    uri: str
    text: str
    pages: tuple[tuple[int, int, int], ...] = ()
    """Of each page start, end and number."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Where a question is answered, in places of the list of texts."""

    documents: frozenset[int]
    spans: tuple[tuple[int, int, int], ...]
    """Of each span, or page, the text, start and end; empty where the question says neither."""


def questions_of(path: str | Path) -> list[Question]:
    """The questions of a JSON Lines file.

    Raises:
        ConfigError: it cannot be read, a line is no question, or there is none.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise ConfigError(f"{path} cannot be read: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    return read_questions(lines, str(path))


def read_questions(lines: Sequence[str], where: str) -> list[Question]:
    """The questions of a JSON Lines file; all faults at once.

    Raises:
        ConfigError: a line is no question, or there is none.
    """
    found, faults = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            question = Question.model_validate_json(line)
        except ValidationError as error:
            faults += [f"  line {number}: {_said(fault)}" for fault in error.errors(include_url=False)]
        else:
            found.append(question if question.id else question.model_copy(update={"id": f"line {number}"}))
    _refuse(faults, f"{where} cannot be used:")
    if not found:
        raise ConfigError(
            f"{where} has no question: write one JSON object a line, with `question` and `documents`."
        )
    return found


def _refuse(faults: Sequence[str], head: str) -> None:
    """End with the first of the faults, if there are any."""
    if faults:
        more = [f"  and {len(faults) - _SHOWN} more"] if len(faults) > _SHOWN else []
        raise ConfigError("\n".join([head, *faults[:_SHOWN], *more]))


def _said(fault: Mapping[str, object]) -> str:
    place = ".".join(str(part) for part in fault["loc"]) if fault["loc"] else ""  # type: ignore[attr-defined]
    message = str(fault["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def find_answers(questions: Sequence[Question], texts: Sequence[Text], where: str) -> list[Answers]:
    """For each question where it is answered.

    Records of a file answer for the file: ``support/tickets.jsonl`` stands for all of its records.

    Raises:
        ConfigError: a document is not in the corpus, or a span in none of its question's documents.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        for name in {text.name, text.uri, text.name.split("#")[0], text.uri.split("#")[0]}:
            places[name].append(place)
    faults: list[str] = []
    found = [_answers(question, places, texts, faults) for question in questions]
    _refuse(faults, f"{where} does not fit the corpus:")
    return found


def _answers(
    question: Question, places: Mapping[str, list[int]], texts: Sequence[Text], faults: list[str]
) -> Answers:
    missing = [name for name in question.documents if name not in places]
    faults += [f"  {question.id}: the corpus has no document {name}" for name in missing]
    documents = frozenset(place for name in question.documents for place in places.get(name, ()))
    spans = []
    for span in question.spans:
        hits = [
            (place, at, at + len(span))
            for place in sorted(documents)
            if (at := texts[place].text.find(span)) >= 0
        ]
        if not hits and not missing:
            faults.append(f"  {question.id}: no document that answers it contains {span!r}")
        spans += hits
    if question.page is not None:
        pages = [
            (place, start, end)
            for place in sorted(documents)
            for start, end, number in texts[place].pages
            if number == question.page
        ]
        if not pages and not missing:
            faults.append(f"  {question.id}: no document that answers it has a page {question.page}")
        spans += pages
    return Answers(documents, tuple(spans))
