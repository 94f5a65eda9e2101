"""Benches of dead letters, resets and resends."""
