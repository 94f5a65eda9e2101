"""A real RocketMQ cluster on this machine, and the consumers of a shop that tell a story on it.

Nothing here is pretended: every offset, member and message comes from RocketMQ's own broker and client.
"""
