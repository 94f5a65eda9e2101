"""Offset resets."""
