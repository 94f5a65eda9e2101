"""The demo: a real RocketMQ cluster on this machine, with the producers and consumers of a shop.

Nothing here is pretended: every offset, member and message comes from RocketMQ's own broker and client.
"""
