"""Offset stores and lost offsets."""
