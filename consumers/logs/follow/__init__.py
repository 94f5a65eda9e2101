"""Files to rows: which files a glob names, what is new in each, and what is recorded of it."""
