"""Which rows answer a question: by their vectors, by their terms, and by both together."""
