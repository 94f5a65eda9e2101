"""Rebalances."""
