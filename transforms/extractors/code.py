"""Reads source code and configuration files: the text as it is, in blocks of code that stand by themselves.

A block begins at a line without indentation after a blank one, so that a definition with blank lines inside
stays together without a parser for each language.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from transforms.extractors.charset import decode
from transforms.extractors.containers import ending
from transforms.model.document import Block, BlockKind, Document, canonical_text

if TYPE_CHECKING:
    from transforms.extractors.settings import ExtractSettings

CODE = "text/x-source"

_LANGUAGES = {
    "bash": ".sh .bash .zsh .ksh", "bat": ".bat .cmd", "c": ".c .h", "clojure": ".clj .cljs", "cmake": ".cmake",
    "cpp": ".cc .cpp .cxx .hh .hpp .hxx", "csharp": ".cs", "css": ".css .scss .sass .less", "dart": ".dart",
    "elixir": ".ex .exs", "erlang": ".erl", "fortran": ".f .f90", "fsharp": ".fs", "go": ".go",
    "graphql": ".graphql .gql", "groovy": ".groovy .gradle", "haskell": ".hs", "hcl": ".tf .hcl",
    "ini": ".ini .cfg .conf .properties .env", "java": ".java", "javascript": ".js .mjs .cjs .jsx",
    "julia": ".jl", "kotlin": ".kt .kts", "lua": ".lua", "matlab": ".m", "nix": ".nix", "ocaml": ".ml .mli",
    "perl": ".pl .pm", "php": ".php", "powershell": ".ps1", "protobuf": ".proto", "python": ".py .pyi .pyw",
    "r": ".r", "ruby": ".rb", "rust": ".rs", "scala": ".scala .sc", "sql": ".sql", "svelte": ".svelte",
    "swift": ".swift", "tex": ".tex", "thrift": ".thrift", "toml": ".toml", "typescript": ".ts .tsx .mts",
    "verilog": ".v .sv", "vhdl": ".vhd .vhdl", "vue": ".vue", "xml": ".xml .xsd .xsl", "yaml": ".yaml .yml",
    "zig": ".zig",
}  # fmt: skip
_NAMES = {"makefile": "make", "dockerfile": "docker", "cmakelists.txt": "cmake", "jenkinsfile": "groovy"}
_BY_ENDING = {end: language for language, ends in _LANGUAGES.items() for end in ends.split()}
_BREAK = re.compile(r"\n(?:[ \t]*\n)+(?=[^\s})\]])")


def language_of(name: str) -> str | None:
    """The language that a file's name says it is in; None for a name that says none."""
    return _NAMES.get(posixpath.basename(name).lower()) or _BY_ENDING.get(ending(name))


def extract_code(data: bytes, name: str, settings: ExtractSettings) -> Document:
    """The one document of a source file; its language is in the metadata and on each block.

    Raises:
        RejectedError: ``wrong_charset``, or ``unsupported_type`` for a binary file.
    """
    text, warnings = decode(data, settings.encoding)
    text = canonical_text(text)
    language = language_of(name)
    blocks = tuple(_blocks(text, language))
    metadata = {"programming_language": language} if language else {}
    return Document(text, blocks, CODE, "code/1", metadata=metadata, warnings=warnings)


def _blocks(text: str, language: str | None) -> Iterator[Block]:
    start = 0
    for end in [*(found.start() for found in _BREAK.finditer(text)), len(text)]:
        part = text[start:end]
        if part.strip():
            skipped = len(part) - len(part.lstrip())
            # The indentation of the first line is part of the block.
            first = start + part.rfind("\n", 0, skipped) + 1
            yield Block(BlockKind.CODE, first, start + len(part.rstrip()), language=language)
        start = end
