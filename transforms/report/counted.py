"""What is counted of a snapshot, in the order in which people are shown it, and what they call it."""

from __future__ import annotations

COUNTED = {
    "documents": "documents",
    "rejected": "rejected",
    "chunks": "chunks",
    "embedded": "embedded",
    "repeated": "repeated",
    "reused": "reused",
    "deleted": "chunks gone",
}
"""By name the heading: first the documents, then the chunks, and where their vectors come from."""
