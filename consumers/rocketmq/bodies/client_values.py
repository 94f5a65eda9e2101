"""What is known of a group's clients: from the broker (203) and from a client itself (307). None is: not said."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ClientConnection:
    client_id: str
    address: str
    language: str
    version: int


@dataclass(frozen=True)
class Subscription:
    """`sub_version` is the client's clock in ms at the last change of its queues or subscription."""

    topic: str
    expression: str
    expression_type: str | None
    tags: tuple[str, ...]
    sub_version: int | None


@dataclass(frozen=True)
class GroupConnections:
    """`online` False: the broker answered that it knows no member. Subscriptions are those that registered last."""

    online: bool
    clients: list[ClientConnection] = field(default_factory=list)
    consume_type: str | None = None
    message_model: str | None = None
    consume_from_where: str | None = None
    subscriptions: list[Subscription] = field(default_factory=list)


@dataclass(frozen=True)
class ProcessQueue:
    """A queue that the client owns. Times are the client's clock in ms; last_consume_ms starts at the queue's creation.

    `commit_offset` is None where the client's memory has none, `cached_min` and `cached_max` while nothing is held.
    What an orderly client works on counts as cached.
    `locked` is true for every queue of concurrent clients since 4.9.5: it says something of orderly ones only.
    """

    topic: str
    broker: str
    queue_id: int
    commit_offset: int | None
    cached_min: int | None
    cached_max: int | None
    cached_count: int
    locked: bool | None
    dropped: bool | None
    last_pull_ms: int | None
    last_consume_ms: int | None
    last_lock_ms: int | None


@dataclass(frozen=True)
class PopQueue:
    """`queue_id` is -1 where the client pops from any queue of the topic."""

    topic: str
    broker: str
    queue_id: int
    wait_ack_count: int
    dropped: bool | None
    last_pop_ms: int | None


@dataclass(frozen=True)
class AssignedQueue:
    """A queue that a broker gives a client. `mode` is PULL or POP; `queue_id` is -1 where it pops from any queue."""

    topic: str
    broker: str
    queue_id: int
    mode: str


@dataclass(frozen=True)
class ConsumeStatus:
    """Averages of the client's last minute, `rt` in milliseconds; failed_messages are those of the last hour."""

    pull_rt: float | None
    pull_tps: float | None
    consume_rt: float | None
    consume_ok_tps: float | None
    consume_failed_tps: float | None
    consume_failed_messages: int | None


@dataclass(frozen=True)
class RunningInfo:
    properties: Mapping[str, str]
    queues: list[ProcessQueue]
    pop_queues: list[PopQueue]
    subscriptions: list[Subscription]
    status: Mapping[str, ConsumeStatus]
    jstack: str | None
