"""Retries and delay levels."""
