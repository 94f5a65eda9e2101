"""The order in which clients sort before they share: String.compareTo, which compares UTF-16 code units.

Characters beyond U+FFFF are pairs of units from D800 to DFFF there, so they sort before U+E000 to U+FFFF.
"""

from .queue_key import QueueKey


def java_order(text: str) -> bytes:
    """A key for sorting texts as Java does."""
    return text.encode("utf-16-be", "surrogatepass")


def queue_order(queue: QueueKey) -> tuple[bytes, bytes, int]:
    """MessageQueue.compareTo (5.4.0): topic, broker name, queue id."""
    return java_order(queue.topic), java_order(queue.broker), queue.queue_id
