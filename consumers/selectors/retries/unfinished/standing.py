"""All that is known of one message that a member holds and has not finished. Plain facts; null is: not known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from consumers.vocabulary.groups import BROADCASTING, PULLING


@dataclass(frozen=True)
class Sendbacks:
    """Whether failed messages of a group came back since its head stands, and why it is not known where it is not.

    `refused`: what is known to keep all of them from being taken back; null where nothing is known to.
    """

    arrive: bool | None = None
    why_unknown: str | None = None
    refused: str | None = None


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A head as it is at `now`, by what its client said at `told_at`. Times of the client are by its own clock.

    `patience`: for how long its words stand. `status` is what it says of the head's topic, of all its queues of it
    together. `broker_offset` null has `unread`.
    """

    cluster: str
    group: str
    topic: str
    broker: str
    queue_id: int
    offset: int
    since: datetime
    told_at: datetime
    now: datetime
    patience: timedelta
    client_id: str
    address: str | None = None
    client_error: str | None = None
    orderly: bool | None = None
    message_model: str | None = None
    consume_type: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    status: Mapping[str, float | int | None] = field(default_factory=dict)
    cached_max: int | None = None
    cached_count: int | None = None
    commit_offset: int | None = None
    last_pull_at: datetime | None = None
    last_consume_at: datetime | None = None
    last_lock_at: datetime | None = None
    broker_offset: int | None = None
    unread: str | None = None
    sendbacks: Sendbacks = field(default_factory=Sendbacks)

    @property
    def seconds(self) -> float:
        return (self.now - self.since).total_seconds()

    @property
    def seen_seconds(self) -> float:
        """How long it is proven to have stood when the client was last heard."""
        return (self.told_at - self.since).total_seconds()

    @property
    def is_stale(self) -> bool:
        return self.now - self.told_at > self.patience

    @property
    def is_broadcasting(self) -> bool:
        return self.message_model == BROADCASTING

    @property
    def is_pulling(self) -> bool:
        return self.consume_type == PULLING

    @property
    def failed_per_second(self) -> float | None:
        return self.status.get("consume_failed_tps")

    @property
    def ok_per_second(self) -> float | None:
        return self.status.get("consume_ok_tps")

    @cached_property
    def client_clock(self) -> datetime | None:
        """A moment of its own clock shortly before it was heard: it pulls again after 30 s at most, even
        where it holds too much; an orderly one locks its queues every 20 s (RocketMQ 5.4.0, DefaultMQPushConsumerImpl.
        pullMessage, ProcessQueue.REBALANCE_LOCK_INTERVAL)."""
        return max((at for at in (self.last_pull_at, self.last_lock_at, self.last_consume_at) if at), default=None)

    def ago(self, at: datetime | None) -> float | None:
        """Seconds by the client's clock, at least, between such a time of it and its answer."""
        return (self.client_clock - at).total_seconds() if at is not None and self.client_clock is not None else None

    @property
    def timeout_seconds(self) -> float | None:
        """Its consumeTimeout, which it says in minutes."""
        said = self.settings.get("consumeTimeout", "")
        return 60.0 * int(said) if said.isdecimal() and int(said) > 0 else None

    @property
    def cached_span(self) -> int | None:
        return None if self.cached_max is None else self.cached_max - self.offset

    @property
    def flow_control(self) -> tuple[str, int] | None:
        """The setting and its value by which it pulls no more of the queue (RocketMQ 5.4.0, DefaultMQPushConsumerImpl.
        pullMessage); None where it is not known to do so."""
        limits = [("pullThresholdForQueue", self.cached_count)]
        if self.orderly is False:
            limits.append(("consumeConcurrentlyMaxSpan", self.cached_span))
        for name, value in limits:
            said = self.settings.get(name, "")
            if said.isdecimal() and value is not None and value >= int(said):
                return name, int(said)
        return None

    @property
    def after(self) -> int | None:
        """How many messages of the queue come after it."""
        if self.broker_offset is None or self.broker_offset <= self.offset:
            return None
        return self.broker_offset - self.offset - 1

    @property
    def behind(self) -> int | None:
        """Those that it has not finished, at least. What a concurrent member has finished it holds no more, so later
        ones that it does not hold are finished, unless it has not pulled them."""
        if self.orderly:
            return self.after
        if self.cached_count is None or self.after is None:
            return None
        return max(0, self.cached_count - 1) + self._not_pulled

    @property
    def finished_out_of_order(self) -> int | None:
        """At most: what its tags leave out, and what it is about to pull, counts too."""
        if self.behind is None or self.after is None:
            return None
        return max(0, self.after - self.behind)

    @property
    def _not_pulled(self) -> int:
        if self.flow_control is None or self.cached_max is None or self.broker_offset is None:
            return 0
        return max(0, self.broker_offset - self.cached_max - 1)
