"""What is wrong with a glob of names below a root, where it would match nothing and nobody would be told."""

from __future__ import annotations

import re

_OPENED = re.compile(r"(?<!\\)\[(?![!^]?\]?[^\]/]*\])")
_CHOICE = re.compile(r"(?<!\\)\{[^{}/]*,[^{}/]*\}")


def fault_of(pattern: str) -> str | None:
    """A sentence on a pattern that no name can match, or that does not mean what it looks like; else None."""
    segments = pattern.split("/")
    if "://" in pattern:
        return "is a whole URI; write what is below the root, or leave `root` out"
    if pattern.startswith("/"):
        return "begins with a slash; names below the root do not"
    if not segments[-1]:
        return f"matches no object; write {pattern}** for all below a folder"
    if "." in segments or ".." in segments:
        return "has a segment . or ..; names below the root have none"
    if _OPENED.search(pattern):
        return r"has a [ without its ]; write \[ for the character"
    if _CHOICE.search(pattern):
        return r"has braces, which are characters like others; write one pattern for each choice, or \{"
    return None
