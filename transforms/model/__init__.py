"""The records, ids and errors that every other module speaks in."""
