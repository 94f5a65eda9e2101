"""Brokers and what they say of themselves and of groups."""
