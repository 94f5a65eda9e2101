"""What a member of a consumer group says of itself, and what it is given. Plain values: no Java."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """A message as a handler sees it. `reconsume_times` is 0 at its first delivery."""

    topic: str
    queue_id: int
    queue_offset: int
    keys: str
    body: bytes
    reconsume_times: int
    # What its producer gave it, which every copy of it keeps (UNIQ_KEY).
    unique_key: str = ""


# True: consumed. False: later, which an orderly consumer does on the spot and a concurrent one by sending back.
Handler = Callable[[Message], bool]


@dataclass(frozen=True)
class Membership:
    """What a member says of itself. Its client id is `127.0.0.1@instance`."""

    group: str
    topic: str
    instance: str
    orderly: bool = False
    broadcasting: bool = False
    threads: int = 1
    # None leaves RocketMQ's own: 16, orderly for ever.
    max_reconsume_times: int | None = None
    # None leaves RocketMQ's own. A failing queue of an orderly consumer is tried again after this.
    suspend_milliseconds: int | None = None
    # How many messages of a queue a member holds. RocketMQ's own is 1000, which a slow consumer of a demo never fills.
    hold_messages: int = 1000
    pull_messages: int = 32
    # How many messages one call of the listener is given. What it answers is of all of them.
    batch_messages: int = 1
    # Which messages it takes, as tags joined by `||`.
    tags: str = "*"
    # It takes what the broker gives it to pop, where the group was let pop from the topic.
    pops: bool = False
    # None leaves RocketMQ's own: 5 s.
    commit_milliseconds: int | None = None
    # RocketMQ's own waits for nothing.
    wait_at_shutdown_milliseconds: int = 0
    # How the queues are shared out: a class of RocketMQ's rebalance package. None leaves its own, the averagely one.
    strategy: str | None = None
    # A message whose handler takes longer is sent back, to be retried. None leaves RocketMQ's own: 15 min.
    timeout_minutes: int | None = None
    # How often it asks name servers for routes. None leaves RocketMQ's own: 30 s.
    route_milliseconds: int | None = None
