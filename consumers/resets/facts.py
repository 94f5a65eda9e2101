"""Facts about a group whose offsets are to be reset, read from the cluster's masters at one time and never
estimated.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from .wish import QueueKey


@dataclass(frozen=True)
class BrokerFacts:
    """A master. `server_side`: it moves offsets itself (its useServerSideResetOffset); null where it did not report it.

    `permission` is a sum of 4 (read) and 2 (write). `error`: why it, or its configuration, could not be read.
    """

    name: str
    version: str | None
    server_side: bool | None
    permission: int | None
    error: str | None = None
    address: str | None = None


@dataclass(frozen=True)
class QueueFacts:
    """`now_offset` null and no `error`: nothing was ever committed there. With an `error` all three may be null."""

    key: QueueKey
    min_offset: int | None
    max_offset: int | None
    now_offset: int | None
    error: str | None = None


@dataclass(frozen=True)
class GroupFacts:
    """`members` are client ids, united over all masters; null, with `members_error`, unless each of them answered.

    `message_model` and `consume_type` are RocketMQ's words (CLUSTERING, CONSUME_PASSIVELY); null for a group without
    members. `orderly` is null where no member reported it. `pop_topics`: topics that the group pops; null: unknown.
    """

    taken_at: datetime
    members: tuple[str, ...] | None
    members_error: str | None
    message_model: str | None
    consume_type: str | None
    orderly: bool | None
    languages: tuple[str, ...]
    pop_topics: frozenset[str] | None
    brokers: Mapping[str, BrokerFacts]
    queues: Mapping[QueueKey, QueueFacts]

    @property
    def online(self) -> bool | None:
        return None if self.members is None else bool(self.members)
