"""The four chunkers this project grew from, cut for cut: for a migration that may not move a boundary."""
