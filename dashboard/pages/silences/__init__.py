"""Silences."""
