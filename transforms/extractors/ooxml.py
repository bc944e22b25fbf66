"""Reads the package that office files are: parts, the relations between them, and the core properties."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from transforms.extractors.inflate import Archive, Caps
from transforms.extractors.safe_xml import Element, local_name, parse_xml
from transforms.model.document import JsonValue
from transforms.model.errors import RejectedError

RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "subject": "subject",
    "keywords": "keywords",
    "language": "language",
    "created": "created",
    "modified": "modified",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """A part's pointer to another part; ``kind`` is the last word of its type, as ``slide``."""

    kind: str
    target: str


class Package:
    """An office file's parts, parsed when they are asked for."""

    def __init__(self, data: bytes, caps: Caps, what: str) -> None:
        """Open a package; raises :class:`RejectedError` as :class:`Archive` does."""
        self.what = what
        self._archive = Archive(data, caps, what)
        self._relations: dict[str, dict[str, Relation]] = {}

    @property
    def archive(self) -> Archive:
        """The zip file below."""
        return self._archive

    def main_part(self) -> str:
        """The name of the part that is the document itself.

        Raises:
            RejectedError: ``corrupt`` when there is none.
        """
        for relation in self.relations("").values():
            if relation.kind == "officeDocument":
                return relation.target
        raise RejectedError("corrupt", f"The zip file names no main part; it is no {self.what}.")

    def tree(self, part: str) -> Element:
        """A part's XML; raises ``corrupt`` when it is missing or damaged."""
        return parse_xml(self._archive.read(part), f"The part {part!r} of the {self.what}")

    def drawn(self, part: str, relation_id: str) -> Element | None:
        """The XML of what a part shows beside its text; None where it is missing or damaged, which costs no text.

        Raises:
            RejectedError: for any other reason.
        """
        relation = self.relations(part).get(relation_id)
        if relation is None or relation.target not in self._archive:
            return None
        try:
            return self.tree(relation.target)
        except RejectedError as error:
            if error.reason != "corrupt":
                raise
            return None

    def relations(self, part: str) -> dict[str, Relation]:
        """A part's relations to other parts by id; those to the outside are left out."""
        if part not in self._relations:
            self._relations[part] = dict(self._read_relations(part))
        return self._relations[part]

    def related(self, part: str, kind: str) -> Element | None:
        """The XML of the part that stands in this relation, if there is one."""
        for relation in self.relations(part).values():
            if relation.kind == kind and relation.target in self._archive:
                return self.tree(relation.target)
        return None

    def properties(self) -> dict[str, str]:
        """Title, author, dates and the like, as far as the file states them."""
        core = self.related("", "core-properties")
        if core is None:
            return {}
        stated = {
            _PROPERTIES.get(local_name(child)): " ".join((child.text or "").split()) for child in core
        }
        return {name: value for name, value in stated.items() if name and value}

    def _read_relations(self, part: str) -> Iterator[tuple[str, Relation]]:
        folder, base = posixpath.split(part)
        name = posixpath.join(folder, "_rels", f"{base}.rels")
        if name not in self._archive:
            return
        for child in self.tree(name):
            if child.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, child.get("Target", ""))).lstrip(
                    "/"
                )
                kind = child.get("Type", "").rpartition("/")[2]
                yield child.get("Id", ""), Relation(kind, target)


def metadata_of(properties: dict[str, str]) -> dict[str, JsonValue]:
    """What of the core properties is a document's metadata: all but its title and language."""
    return {name: value for name, value in properties.items() if name not in ("title", "language")}
