"""A queue as the rows know it, and whether clients could read it at a moment."""

from datetime import datetime
from typing import NamedTuple

from consumers.rocketmq.allocation.queue_key import QueueKey

COLUMNS = ("pk", "topic__name", "broker", "queue_id", "readable", "first_seen_at", "readable_since")


class KnownQueue(NamedTuple):
    """A tuple in the order of COLUMNS, because a group has thousands of them."""

    pk: int
    topic: str
    broker: str
    queue_id: int
    readable: bool | None
    first_seen_at: datetime | None
    readable_since: datetime | None

    @property
    def key(self) -> QueueKey:
        return QueueKey(self.topic, self.broker, self.queue_id)

    @property
    def there_since(self) -> datetime | None:
        """Since when clients can read it, where that was noted."""
        return max((at for at in (self.first_seen_at, self.readable_since) if at is not None), default=None)

    def was_readable(self, at: datetime | None) -> bool | None:
        """At that moment, or by the newest reading. Null where it was not read; a queue not yet seen was none."""
        if at is None or self.readable is None:
            return self.readable
        if self.first_seen_at is not None and self.first_seen_at > at:
            return False
        flipped = self.readable_since is not None and self.readable_since > at
        return self.readable is not flipped
