"""The columns of the table, in one place: names, types, order and meaning.

Physical types are those that most stores read as they are: plain ``string``, ``list<element: T not
null>``, one integer width a column, JSON text in place of maps. ``source`` is the partition directory
and therefore not in the files; ``source_name`` is.
"""

from __future__ import annotations

import pyarrow as pa

SCHEMA_VERSION = 1


def _column(name: str, kind: pa.DataType, meaning: str, *, null: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=null, metadata={"meaning": meaning})


def _list(kind: pa.DataType) -> pa.ListType:
    return pa.list_(pa.field("element", kind, nullable=False))


CHUNKS = pa.schema(
    [
        _column("chunk_id", pa.string(), "UUID over source, document, text and its n-th occurrence"),
        _column("chunk_ref", pa.string(), "<doc_id>::<n>, n from 1, for people"),
        _column("source_name", pa.string(), "name of the source, as configured"),
        _column("doc_id", pa.string(), "id of the document within its source"),
        _column("doc_uri", pa.string(), "where the object was read"),
        _column("doc_title", pa.string(), "title of the document, whole", null=True),
        _column("doc_title_from", pa.string(), "metadata, header, heading or file", null=True),
        _column("doc_type", pa.string(), "type given by the source's settings", null=True),
        _column("doc_sha256", pa.string(), "SHA-256 of the canonical text"),
        _column("doc_chars", pa.int64(), "length of the canonical text in code points"),
        _column("chunk_index", pa.int32(), "position in the document, from 0"),
        _column("chunk_count", pa.int32(), "chunks of the document"),
        _column("start", pa.int64(), "first code point of the chunk in the canonical text"),
        _column("end", pa.int64(), "code point after its last"),
        _column("page_start", pa.int32(), "page of the first character, from 1", null=True),
        _column("page_end", pa.int32(), "page of the last character", null=True),
        _column("text", pa.string(), "exactly canonical_text[start:end]"),
        _column("text_sha256", pa.string(), "SHA-256 of text"),
        _column("chars", pa.int32(), "code points of text"),
        _column("tokens", pa.int32(), "tokens of text by counter"),
        _column("counter", pa.string(), "how tokens were counted"),
        _column("embed_text", pa.string(), "what was embedded"),
        _column("embed_tokens", pa.int32(), "tokens of embed_text, as the model counts"),
        _column("embed_sha256", pa.string(), "SHA-256 of embed_text"),
        _column("embed_key", pa.string(), "hash of model, dimension, task and embed_text"),
        _column("context_start", pa.int64(), "span of the text before it that is embedded too", null=True),
        _column("context_end", pa.int64(), "end of that span", null=True),
        _column("context_after_start", pa.int64(), "span of the text behind it, likewise", null=True),
        _column("context_after_end", pa.int64(), "end of that span", null=True),
        _column(
            "section_title",
            pa.string(),
            "heading above the first character, or shared by those that the chunk begins with; as a page shows it",
            null=True,
        ),
        _column("section_path", _list(pa.string()), "headings from the outermost to that one"),
        _column("section_level", pa.int8(), "level of that heading", null=True),
        _column("section_titles", _list(pa.string()), "all headings inside the chunk"),
        _column("breadcrumb", pa.string(), "the path as embedded", null=True),
        _column("prev_id", pa.string(), "chunk before it in the document", null=True),
        _column("next_id", pa.string(), "chunk after it", null=True),
        _column("cut", pa.string(), "whole, packed, split, protected, over_ceiling or hard"),
        _column("semantic_group", pa.int32(), "group of the semantic strategy", null=True),
        _column("distance_before", pa.float32(), "distance at its first boundary", null=True),
        _column("distance_after", pa.float32(), "distance at its last boundary", null=True),
        _column("step_first", pa.int32(), "first step of a procedure in it", null=True),
        _column("step_last", pa.int32(), "last step in it", null=True),
        _column("step_total", pa.int32(), "steps of the whole run", null=True),
        _column("entity_id", pa.string(), "the only entity it mentions", null=True),
        _column("entity_mentions", _list(pa.string()), "all entities it mentions"),
        _column("doc_number", pa.string(), "proposed from the document's header", null=True),
        _column("revision", pa.string(), "proposed from the document's header", null=True),
        _column("authorising_role", pa.string(), "proposed from the document's header", null=True),
        _column("effective_date", pa.date32(), "proposed from the document's header", null=True),
        _column("effective_date_raw", pa.string(), "that date as written", null=True),
        _column("metadata", pa.string(), "the document's own metadata, one JSON object"),
        _column("strategy", pa.string(), "chunking strategy and its version"),
        _column("config_id", pa.string(), "fingerprint of the resolved chunking settings"),
        _column("embedding", _list(pa.float32()), "the vector; null if the text has none", null=True),
        _column("embedding_int8", _list(pa.int8()), "the vector as int8, if configured", null=True),
        _column("embedding_bits", pa.binary(), "a bit a number of it, if configured", null=True),
        _column("sparse_indices", _list(pa.uint32()), "ids of its terms, ascending", null=True),
        _column("sparse_values", _list(pa.float32()), "weight of each of them", null=True),
        _column("embed_model", pa.string(), "model and version", null=True),
        _column("embed_dim", pa.int32(), "length of the vector", null=True),
        _column("embed_usage", pa.int32(), "always null: servers bill requests, and not texts", null=True),
        _column("warnings", _list(pa.string()), "what a person should know of this chunk"),
        _column("changed_in", pa.int64(), "snapshot in which the row last changed"),
    ]
)

_BLOCK = pa.struct(
    [
        pa.field("kind", pa.string(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
        pa.field("level", pa.int8()),
        pa.field("title", pa.string()),
        pa.field("language", pa.string()),
    ]
)
_PAGE = pa.struct(
    [
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
        pa.field("number", pa.int32(), nullable=False),
        pa.field("label", pa.string()),
    ]
)

DOCUMENTS = pa.schema(
    [
        _column("source_name", pa.string(), "name of the source, as configured"),
        _column(
            "doc_id", pa.string(), "object name, and #record where it holds several; # in a name is %23"
        ),
        _column("object_name", pa.string(), "name of the object below the source's root"),
        _column("doc_uri", pa.string(), "where the object was read"),
        _column("status", pa.string(), "ok, empty, or stale (kept from before a failed change)"),
        _column("object_size", pa.int64(), "bytes of the object"),
        _column("object_token", pa.string(), "version of the object that was read last"),
        _column("object_checksum", pa.string(), "what the store says of its content", null=True),
        _column("object_sha256", pa.string(), "SHA-256 of the object's bytes"),
        _column("media_type", pa.string(), "type found by content, then by name"),
        _column("doc_title", pa.string(), "title from the file's own metadata", null=True),
        _column("language", pa.string(), "BCP 47 tag", null=True),
        _column("metadata", pa.string(), "the document's own metadata, one JSON object"),
        _column("warnings", _list(pa.string()), "what a person should know of this document"),
        _column("text", pa.string(), "canonical text; null with store_text: false", null=True),
        _column("text_sha256", pa.string(), "SHA-256 of the canonical text"),
        _column("text_chars", pa.int64(), "its length in code points"),
        _column("blocks", _list(_BLOCK), "its blocks, in order"),
        _column("pages", _list(_PAGE), "its pages, in order"),
        _column("chunk_count", pa.int32(), "chunks of the document"),
        _column("extract_recipe", pa.string(), "fingerprint of what extracted it"),
        _column("chunk_recipe", pa.string(), "fingerprint of what cut and composed it"),
        _column("embed_recipe", pa.string(), "fingerprint of what embedded it"),
        _column(
            "sparse_recipe", pa.string(), "fingerprint of what made its sparse vectors, if any", null=True
        ),
        _column("changed_in", pa.int64(), "snapshot in which the row last changed"),
    ]
)

REJECTED = pa.schema(
    [
        _column("source_name", pa.string(), "name of the source"),
        _column("doc_id", pa.string(), "id of the document"),
        _column("object_name", pa.string(), "name of the object below the source's root"),
        _column("doc_uri", pa.string(), "where it was read"),
        _column("stage", pa.string(), "read, extract, chunk or embed"),
        _column("reason", pa.string(), "slug to filter by"),
        _column("detail", pa.string(), "a sentence for a person"),
        _column("object_size", pa.int64(), "bytes of the object"),
        _column("object_token", pa.string(), "version of the object that failed"),
        _column("recipe", pa.string(), "fingerprint of the recipe that it failed under"),
    ]
)

DELETES = pa.schema(
    [
        _column("chunk_id", pa.string(), "a chunk of the parent that is gone"),
        _column("source_name", pa.string(), "name of its source"),
    ]
)

TERMS = pa.schema(
    [
        _column("term", pa.uint32(), "id of a term, as in sparse_indices; ascending"),
        _column("chunks", pa.int64(), "chunks that have it"),
    ]
)
