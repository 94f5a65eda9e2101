"""Columns, keys and statements that write many rows at once."""
