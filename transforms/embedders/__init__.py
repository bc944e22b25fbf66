"""Texts to vectors: one protocol, one adapter a file."""
