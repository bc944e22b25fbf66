"""Pages for people: HTML files that need nothing beside them."""
