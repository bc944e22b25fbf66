"""What a run has to do: set arithmetic on columns, without any I/O."""
