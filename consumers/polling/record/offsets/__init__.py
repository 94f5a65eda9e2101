"""Snapshots of queues, totals of groups, moves and losses."""
