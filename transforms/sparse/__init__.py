"""Sparse vectors: the terms of a text with their weights, for retrieval by words beside that by meaning."""
