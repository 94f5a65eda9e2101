"""Queues of groups: rows under the overlay, what is lost or unacknowledged."""
