"""Bytes to documents: one adapter a format."""
