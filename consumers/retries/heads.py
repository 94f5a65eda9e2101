"""The oldest unfinished message of each queue, with all that is known of it; and whether what its group sends back
arrives: in its retry topics, its dead-letter topic, or at a delay level. Null is unknown.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.conf import settings
from django.db.models import Max, Min, QuerySet
from django.utils.translation import gettext, gettext_lazy

from consumers.models import Assignment, Client, ConsumerGroup, GroupWindow, HeadMessage, QueueSnapshot, Rung, TopicKind
from consumers.ownership.segments import patience_of
from consumers.polling.heads import unfinished_heads
from consumers.queries.limits import BrokerAge, broker_ages, limits
from consumers.queries.queues.overlay import offsets
from consumers.retries.blocked_rows import StoredHead
from consumers.retries.checks.brokers import refusals
from consumers.retries.checks.observed import ConsumeMode
from consumers.rocketmq.bodies.fields import count_of
from consumers.words.reasons import stored_words

MINUTE = timedelta(minutes=1)
# What failed longer ago says nothing of what fails now.
LOOKED_BACK = timedelta(minutes=3)
OLD_WAITING = gettext_lazy("some are at delay levels, and the time of the newest send-back is unknown")
NO_WINDOWS = gettext_lazy("send-backs are not aggregated yet")
MAYBE_EARLIER = gettext_lazy("send-backs since then are not known yet")


@dataclass(frozen=True)
class MinuteVolumes:
    """What one minute from `start` saw."""

    start: datetime
    into_retry: int | None
    into_dlq: int | None

    @property
    def something(self) -> bool:
        return bool(self.into_retry) or bool(self.into_dlq)

    @property
    def nothing(self) -> bool:
        return self.into_retry == 0 and self.into_dlq == 0


@dataclass(frozen=True)
class RetryArrivals:
    """Of one group: its last minutes, when a number of its retry topics last changed, and since when the longest
    waiting of those that were found on delay levels waits. Null is none; `unread` is why that is not known."""

    minutes: Sequence[MinuteVolumes] = field(default_factory=list)
    changed_at: datetime | None = None
    waiting_since: datetime | None = None
    unread: str | None = None

    def since(self, moment: datetime) -> tuple[bool | None, str | None]:
        """Whether anything did since then, and why that is not known where it is not."""
        minutes = [one for one in self.minutes if one.start > moment - MINUTE]
        if any(one.something for one in minutes if one.start >= moment):
            return True, None
        if self.unread is not None:
            return None, self.unread
        if self.waiting_since is not None:
            return (True, None) if self.waiting_since >= moment else (None, str(OLD_WAITING))
        if not minutes:
            return None, str(NO_WINDOWS)
        is_quiet = self.changed_at is None or self.changed_at <= moment
        if all(one.nothing or (is_quiet and one.into_dlq == 0) for one in minutes):
            return False, None
        return None, str(MAYBE_EARLIER)


def retry_arrivals(
    groups: Collection[ConsumerGroup], brokers: Mapping[int, Sequence[BrokerAge]], now: datetime
) -> dict[int, RetryArrivals]:
    """By the group's id. Three queries. `brokers`: of each cluster, by its id."""
    keys = [group.pk for group in groups]
    if not keys:
        return {}
    unread = {cluster: _unread(ages, now) for cluster, ages in brokers.items()}
    minutes = _minutes(keys, now)
    retries = QueueSnapshot.objects.filter(group__in=keys, queue__topic__kind=TopicKind.RETRY)
    changed = dict(retries.values_list("group").annotate(at=Max("changed_at")))
    rungs = Rung.objects.filter(group__in=keys, messages__gt=0)
    waiting = dict(rungs.values_list("group").annotate(since=Min("oldest_stored_at")))
    return {
        group.pk: RetryArrivals(
            minutes.get(group.pk, []), changed.get(group.pk), waiting.get(group.pk), unread.get(group.cluster_id)
        )
        for group in groups
    }


def _minutes(groups: Collection[int], now: datetime) -> dict[int, list[MinuteVolumes]]:
    rows = GroupWindow.objects.filter(group__in=groups, step_seconds=60, start__gte=now - LOOKED_BACK - MINUTE)
    found: dict[int, list[MinuteVolumes]] = {}
    of_minutes = rows.order_by("start").values_list("group", "start", "into_retry", "into_dlq")
    for group, start, into_retry, into_dlq in of_minutes:
        found.setdefault(group, []).append(MinuteVolumes(start, into_retry, into_dlq))
    return found


def _unread(brokers: Iterable[BrokerAge], now: datetime) -> str | None:
    return next((why for broker in brokers if (why := broker.unread_reason(now, limits())) is not None), None)


@dataclass(frozen=True)
class Sendbacks:
    """Whether failed messages of a group were sent back since its head stopped moving, or why that is not known.
    `refused`: a known reason why brokers accept none of them; null where there is none."""

    arrive: bool | None = None
    why_unknown: str | None = None
    refused: str | None = None


@dataclass(frozen=True, kw_only=True)
class StuckMessage(ConsumeMode):
    """A head as it is at `now`, by what its client said at `last_heard_at`. Times of the client are by its own clock.

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
    last_heard_at: datetime
    now: datetime
    patience: timedelta
    client_id: str
    address: str | None = None
    client_error: str | None = None
    orderly: bool | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    status: Mapping[str, float | int | None] = field(default_factory=dict)
    cached_max: int | None = None
    cached_count: int | None = None
    cached_mib: int | None = None
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
        """Returns for how long the head had provably not moved when the client last answered."""
        return (self.last_heard_at - self.since).total_seconds()

    @property
    def is_stale(self) -> bool:
        return self.now - self.last_heard_at > self.patience

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
        minutes = count_of(self.settings.get("consumeTimeout"))
        return 60.0 * minutes if minutes else None

    @property
    def cached_span(self) -> int | None:
        return None if self.cached_max is None else self.cached_max - self.offset

    @property
    def flow_control(self) -> tuple[str, int] | None:
        """The setting and its value above which it pulls no more of the queue (RocketMQ 5.4.0,
        DefaultMQPushConsumerImpl.pullMessage); None where it is not known to do so."""
        for name, value in self._limited:
            limit = count_of(self.settings.get(name))
            if limit is not None and value is not None and value > limit:
                return name, limit
        return None

    @property
    def unreported_limits(self) -> list[str]:
        """Settings that may keep it from pulling, and that it does not report."""
        return [name for name, _value in self._limited if count_of(self.settings.get(name)) is None]

    @property
    def _limited(self) -> list[tuple[str, int | None]]:
        limits = [("pullThresholdForQueue", self.cached_count), ("pullThresholdSizeForQueue", self.cached_mib)]
        if self.orderly is False:
            limits.append(("consumeConcurrentlyMaxSpan", self.cached_span))
        return limits

    @property
    def busy_threads(self) -> tuple[float, int] | None:
        """How many threads its messages took on average in its last minute, and how many it has. None where that is
        not known: batches are finished together, and times of one topic are not those of another."""
        has, rates = self.settings.get("PROP_THREADPOOL_CORE_SIZE", ""), (self.ok_per_second, self.failed_per_second)
        mean_ms = self.status.get("consume_rt")
        is_single = self.settings.get("consumeMessageBatchMaxSize") == "1"
        if not is_single or not has.isdecimal() or not mean_ms or None in rates:
            return None
        return sum(rate for rate in rates if rate is not None) * mean_ms / 1000, int(has)

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


HeadKey = tuple[int, int, str]  # group id, queue id, client id
CACHED = ("client_id", "cached_max", "cached_count", "cached_mib", "commit_offset")
REPORTED = (*CACHED, "last_pull_at", "last_consume_at", "last_lock_at")
NOT_LOOKED_UP = gettext_lazy("the message has not been fetched yet")


def blocked_heads(now: datetime, **of_groups: Any) -> QuerySet[Assignment]:
    """Returns heads that have not moved for as long as the setting says, with all that `stuck_messages` needs."""
    rows = unfinished_heads(settings.CONSUMERSCOPE_BLOCKED_AFTER_SECONDS, now, **of_groups)
    return rows.select_related("group__cluster", "queue__topic")


def stuck_messages(rows: Collection[Assignment], now: datetime) -> list[StuckMessage]:
    """In the order of the rows, in a fixed number of queries."""
    groups = {row.group_id: row.group for row in rows}
    clients = _clients(groups)
    ages = broker_ages({group.cluster_id for group in groups.values()})
    brokers = {cluster: age.brokers for cluster, age in ages.items()}
    returned = retry_arrivals(groups.values(), brokers, now)
    failing = {row.group_id: row.group for row in rows if _fails(clients.get((row.group_id, row.client_id)), row)}
    refused = refusals(list(failing.values()), now)
    snapshots = _snapshots(rows)
    found = []
    for row in rows:
        of_broker = {age.name: age for age in brokers.get(row.group.cluster_id, ())}
        found.append(
            _stuck_message(
                row,
                clients.get((row.group_id, row.client_id)),
                _end(snapshots.get((row.group_id, row.queue_id)), of_broker, now),
                _sendbacks(row, returned[row.group_id], refused.get(row.group_id), now),
                now,
            )
        )
    return found


def message_facts(rows: Collection[Assignment]) -> dict[HeadKey, tuple[StoredHead | None, str | None]]:
    """What the poll found of these very heads, or why it found nothing."""
    held = {_key(row): row.cached_min for row in rows}
    looked_up = HeadMessage.objects.filter(
        group__in={group for group, _, _ in held}, queue__in={queue for _, queue, _ in held}
    )
    messages: dict[HeadKey, tuple[StoredHead | None, str | None]] = dict.fromkeys(held, (None, str(NOT_LOOKED_UP)))
    for head in looked_up:
        key = (head.group_id, head.queue_id, head.client_id)
        if held.get(key) == head.offset:
            messages[key] = _message(head)
    return messages


def _key(row: Assignment) -> HeadKey:
    return row.group_id, row.queue_id, row.client_id


def _message(head: HeadMessage) -> tuple[StoredHead | None, str | None]:
    known = (head.message_id, head.reconsume_times, head.size, head.born_at, head.stored_at)
    if head.error is not None or None in known:
        return None, stored_words(head.error) or str(NOT_LOOKED_UP)
    names = ("message_id", "origin_topic", "keys", "tags", "reconsume_times", "size", "born_at", "stored_at")
    return StoredHead(**{name: getattr(head, name) for name in names}), None


def _clients(groups: Collection[int]) -> dict[tuple[int, str], Client]:
    rows = Client.objects.filter(group__in=groups, gone_by=None).only(
        "group_id", "client_id", "address", "orderly", "settings", "consume_status", "running_info_error"
    )
    return {(row.group_id, row.client_id): row for row in rows}


def _status(client: Client, row: Assignment) -> dict[str, float | int | None]:
    return dict((client.consume_status or {}).get(row.queue.topic.name, {}))


def _fails(client: Client | None, row: Assignment) -> bool:
    return client is not None and bool(_status(client, row).get("consume_failed_tps"))


def _snapshots(rows: Collection[Assignment]) -> dict[tuple[int, int], QueueSnapshot]:
    found = QueueSnapshot.objects.filter(
        group__in={row.group_id for row in rows}, queue__in={row.queue_id for row in rows}
    ).select_related("queue")
    return {(row.group_id, row.queue_id): row for row in found}


def _end(
    snapshot: QueueSnapshot | None, brokers: Mapping[str, BrokerAge], now: datetime
) -> tuple[int | None, str | None]:
    """The broker offset, or why it is not known."""
    if snapshot is None:
        return None, gettext("the broker offset was not read")
    read = offsets(snapshot, brokers.get(snapshot.queue.broker), now, limits())
    if read.broker_offset is None:
        return None, read.reason or gettext("the broker offset was not read")
    return read.broker_offset, None


def _sendbacks(row: Assignment, returned: RetryArrivals, refused: str | None, now: datetime) -> Sendbacks:
    assert row.head_since is not None
    arrive, why_unknown = returned.since(max(row.head_since, now - LOOKED_BACK))
    return Sendbacks(arrive, why_unknown, refused)


def _stuck_message(
    row: Assignment, client: Client | None, end: tuple[int | None, str | None], sendbacks: Sendbacks, now: datetime
) -> StuckMessage:
    assert row.head_since is not None
    assert row.cached_min is not None
    group: ConsumerGroup = row.group
    fields: dict[str, Any] = {}
    if client is not None:
        fields = {
            "address": client.address,
            "client_error": client.running_info_error,
            "orderly": client.orderly,
            "settings": client.settings or {},
            "status": _status(client, row),
        }
    return StuckMessage(
        cluster=group.cluster.name,
        group=group.name,
        topic=row.queue.topic.name,
        broker=row.queue.broker,
        queue_id=row.queue.queue_id,
        offset=row.cached_min,
        since=row.head_since,
        last_heard_at=row.last_seen,
        now=now,
        patience=patience_of(group).length,
        message_model=group.message_model,
        consume_type=group.consume_type,
        broker_offset=end[0],
        unread=end[1],
        sendbacks=sendbacks,
        **{name: getattr(row, name) for name in REPORTED},
        **fields,
    )
