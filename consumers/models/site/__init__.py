"""Tokens, audit, leases and clocks."""
