"""Resets, resends and what they are about."""
