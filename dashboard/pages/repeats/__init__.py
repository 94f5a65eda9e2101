"""Repeats: messages that groups consumed again."""
