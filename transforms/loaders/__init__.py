"""Load a table into vector stores, and keep them in step with it."""
