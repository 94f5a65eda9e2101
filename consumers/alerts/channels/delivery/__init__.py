"""Which message goes out when, and what became of it."""
