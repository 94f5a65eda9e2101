"""Benches of polls: reading a cluster and its members, parsing."""
