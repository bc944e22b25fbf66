"""What bulk imports of stores take, written from a snapshot or a change feed: one module a store."""
