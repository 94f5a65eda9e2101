"""Delay levels and what of a group waits there."""
