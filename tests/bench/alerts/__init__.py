"""Benches of rules and /metrics."""
