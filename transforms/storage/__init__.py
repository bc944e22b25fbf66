"""One narrow way to every store: names, versions, preconditions, links."""
