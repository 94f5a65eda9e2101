"""Rebalances: over all groups, and one of them."""
