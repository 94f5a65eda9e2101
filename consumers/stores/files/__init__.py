"""Offset files: found, read, parsed."""
