"""How one document is read and cut, to look at: in the terminal and as a page."""
