"""Values for rocketmq-exporter's metric names, of one cluster."""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import attrgetter
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from django.db.models import Case, Count, F, JSONField, Max, Q, Sum, When

from consumers.groups.gauges import GroupGauges
from consumers.groups.overlay import NO_BROKER, Overlay
from consumers.lake.reader import read_moment
from consumers.lake.store import Lake
from consumers.models import (
    Broker,
    BrokerStatistic,
    Client,
    Queue,
    QueueSample,
    QueueSnapshot,
    Reading,
    TimeLagKind,
    Topic,
)
from consumers.ownership.segments import LEAST_SECONDS
from consumers.queries.history import as_list
from consumers.queries.limits import ClusterAge, Limits
from consumers.vocabulary.states import BROADCASTING, MASTER, NO_LAG_REASONS, UnknownReason

from .waits import NOT_JUDGED, first_wait, store_times, with_evaluated

# The offsets of each group, topic and broker, as sums over queues: one unknown queue makes the sum unknown.
# The consumer offset of such a queue is the broker's value, although there is no lag.
WITH_OFFSET = (
    UnknownReason.CONSUMER_AHEAD,
    UnknownReason.NO_BROKER_OFFSET,
    UnknownReason.TOPIC_GONE,
    UnknownReason.QUEUE_GONE,
)

KNOWN_LAG = Q(unknown_reason=None, consumer_offset__isnull=False, broker_offset__isnull=False)

KNOWN_OFFSET = Q(consumer_offset__isnull=False) & (Q(unknown_reason=None) | Q(unknown_reason__in=WITH_OFFSET))

CHUNK = 2000


class TopicPart(NamedTuple):
    """A group's part of a topic on one broker. Null is unknown, or means that no queue of it has an offset.

    `is_idle`: no queue of it has a lag by its nature (never committed, or deleted): sums are complete without it.
    """

    group_id: int
    topic: str
    broker: str
    consumer_offset: int | None
    lag_messages: int | None
    is_idle: bool


def topic_parts(
    cluster_id: int, groups: Collection[int], read: Container[str], exact: Container[str]
) -> list[TopicPart]:
    """In the order of `groups`, then by topic and broker. Parts on brokers outside `read` are unknown, as are lags
    outside `exact`. Two queries.
    """
    no_lag = Q(unknown_reason__in=NO_LAG_REASONS)
    rows = (
        QueueSnapshot.objects.filter(group__cluster=cluster_id)
        .values_list("group_id", "queue__topic_id", "queue__broker")
        .annotate(
            unknown=Count("pk", filter=~KNOWN_LAG & ~no_lag),
            known=Count("pk", filter=KNOWN_LAG),
            lag=Sum(F("broker_offset") - F("consumer_offset"), filter=KNOWN_LAG),
            unknown_offsets=Count("pk", filter=~KNOWN_OFFSET & ~Q(unknown_reason=UnknownReason.NEVER_COMMITTED)),
            offset=Sum("consumer_offset", filter=KNOWN_OFFSET),
        )
        .order_by()
    )
    found = [row for row in rows.iterator(chunk_size=CHUNK) if row[0] in groups]
    # Read after the rows: a topic that appeared meanwhile then has a name; a deleted one is not needed any more.
    topics = dict(Topic.objects.filter(cluster=cluster_id).values_list("pk", "name"))
    parts: dict[int, list[TopicPart]] = {}
    for group, topic, broker, unknown, known, lag, unknown_offsets, offset in found:
        if topic in topics:
            is_read = broker in read
            part = TopicPart(
                group, topics[topic], broker,
                None if unknown_offsets or not is_read else offset,
                None if unknown or broker not in exact else lag,
                is_read and not known and not unknown,
            )  # fmt: skip
            parts.setdefault(group, []).append(part)
    place = attrgetter("topic", "broker")
    return [part for group in groups for part in sorted(parts.get(group, ()), key=place)]


def broker_ends(cluster_id: int, topics: Container[str], read: Container[str]) -> dict[tuple[str, str], int | None]:
    """By topic and broker, in their order, the sum of the broker offsets; null where one of them is unknown.

    Only topics that groups have offsets of: no end of other topics is read. Two queries.
    """
    rows = (
        QueueSnapshot.objects.filter(group__cluster=cluster_id)
        .exclude(unknown_reason__in=(UnknownReason.TOPIC_GONE, UnknownReason.QUEUE_GONE))
        .values_list("queue__topic__name", "queue__broker", "queue_id")
        .annotate(
            end=Max(
                "broker_offset", filter=~Q(unknown_reason__in=(UnknownReason.NOT_REPORTED, UnknownReason.SLAVE_BEHIND))
            )
        )
        .order_by()
    )
    ends: dict[tuple[str, str], int | None] = {}
    for topic, broker, _queue, end in rows.iterator(chunk_size=CHUNK):
        if topic in topics:
            before = ends.get((topic, broker), 0)
            ends[topic, broker] = None if before is None or end is None or broker not in read else before + end
    # Readings contain no offsets of queues that are writable but not readable.
    unseen = Queue.objects.filter(topic__cluster=cluster_id, readable=False, writable=True, snapshots=None)
    unknown = dict.fromkeys(unseen.values_list("topic__name", "broker"))
    return {key: None if key in unknown else end for key, end in sorted(ends.items())}


# Values for the families of rocketmq-exporter that are about groups as a whole, of one cluster.
class ExporterGroup(NamedTuple):
    """`members` and `dead_letters` are null where unknown. `is_hidden`: it may have unknown queues on a broker that was
    never read. `is_outside`: its offsets on brokers are not its progress.
    """

    id: int
    name: str
    members: int | None
    is_broadcasting: bool
    is_outside: bool
    is_judged: bool
    is_hidden: bool
    dead_letters: int | None


def exporter_groups(overlay: Overlay, groups: Iterable[GroupGauges]) -> dict[int, ExporterGroup]:
    """By id, in the order of `groups`."""
    never_read = {broker.id for broker in overlay.brokers.values() if broker.last_read_at is None} | {NO_BROKER}
    return {
        group.id: ExporterGroup(
            group.id, group.name, group.members, group.message_model == BROADCASTING, group.outside_store is not None,
            bool(group.is_fresh), group.unread_by in never_read, group.dlq_messages,
        )
        for group in groups
    }  # fmt: skip


def cluster_names(cluster_id: int) -> dict[str, str | None]:
    """RocketMQ's name of each broker's cluster, by the broker's name; null where no name server has reported it yet."""
    rows = Broker.objects.filter(cluster=cluster_id, broker_id=MASTER)
    return dict(rows.order_by("name").values_list("name", "cluster_name"))


# Messages per second, from two readings of the lake a minute apart, and the ends of dead-letter queues.

MINUTE = timedelta(seconds=60)

QUEUE = ["topic", "broker", "queue_id"]

OFFSETS = ("consumer_offset", "broker_offset")


@dataclass(frozen=True)
class Moved:
    """Messages per second between two readings. Absent where an offset was not read twice, or went back.

    `consumed`: by group, topic and broker · `produced`: by topic and broker · `dead_letters`: the sum of the broker
    offsets by dead-letter topic and broker. The latter two are null where the readings are not retained.
    """

    consumed: Mapping[tuple[str, ...], float] | None = None
    produced: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    dead_letters: Mapping[tuple[str, str], int] | None = None


def moved(lake: Lake, cluster_id: int, cluster: str, now: datetime, limits: Limits) -> Moved:
    """One query, and three files at the most."""
    times = list(
        Reading.objects.filter(cluster=cluster_id, taken_at__gte=limits.read_since(now) - 3 * MINUTE, taken_at__lte=now)
        .order_by("-taken_at")
        .values_list("taken_at", flat=True)
    )
    if not times or times[0] < limits.read_since(now):
        return Moved()
    newest = _offsets(lake, cluster, times[0])
    if newest is None:
        return Moved()
    dead_letters = _dead_letters(lake, cluster, times[0])
    earlier = next((at for at in times if at <= times[0] - MINUTE), None)
    before = _offsets(lake, cluster, earlier) if earlier is not None else None
    if earlier is None or before is None:
        return Moved(dead_letters=dead_letters)
    seconds = (times[0] - earlier).total_seconds()
    consumed = _rates(before, newest, ["group", *QUEUE], "consumer_offset", seconds)
    produced = _rates(_ends(before), _ends(newest), QUEUE, "broker_offset", seconds)
    return Moved(consumed, produced, dead_letters)


def _offsets(lake: Lake, cluster: str, at: datetime) -> pa.Table | None:
    return read_moment(lake, "readings", cluster, at, ["group", *QUEUE, *OFFSETS], pc.scalar(True))


def _ends(rows: pa.Table) -> pa.Table:
    """The groups of a queue share its end."""
    ends = rows.group_by(QUEUE).aggregate([("broker_offset", "max")])
    return ends.rename_columns([*QUEUE, "broker_offset"])


def _rates(
    before: pa.Table, after: pa.Table, key: list[str], column: str, seconds: float
) -> dict[tuple[str, ...], float]:
    """The rates by the key without the queue id. A queue that was never committed at both readings has moved by 0."""
    both = after.select([*key, column]).join(
        before.select([*key, column]).rename_columns([*key, "before"]), keys=key, join_type="left outer"
    )
    steps = pc.subtract(both[column], both["before"])
    is_idle = pc.and_(pc.is_null(both[column]), pc.is_null(both["before"]))
    is_known = pc.fill_null(pc.greater_equal(steps, 0), False)
    both = both.append_column("step", pc.if_else(is_known, steps, 0))
    both = both.append_column("unknown_offsets", pc.cast(pc.invert(pc.or_(is_idle, is_known)), pa.int64()))
    both = both.append_column("known", pc.cast(is_known, pa.int64()))
    place = key[:-1]
    sums = both.group_by(place).aggregate([("step", "sum"), ("unknown_offsets", "sum"), ("known", "sum")])
    sums = sums.filter(pc.and_(pc.equal(sums["unknown_offsets_sum"], 0), pc.greater(sums["known_sum"], 0)))
    names = zip(*(as_list(sums[name]) for name in place), strict=True)
    return {name: step / seconds for name, step in zip(names, as_list(sums["step_sum"]), strict=True)}


def _dead_letters(lake: Lake, cluster: str, at: datetime) -> dict[tuple[str, str], int]:
    """A reading without such a file saw no dead-letter topic."""
    rows = read_moment(lake, "dead_letters", cluster, at, ["topic", "broker", "broker_offset"], pc.scalar(True))
    if rows is None:
        return {}
    sums = rows.group_by(["topic", "broker"]).aggregate(
        [("broker_offset", "sum", pc.ScalarAggregateOptions(skip_nulls=False))]
    )
    values = zip(*(as_list(sums[name]) for name in ("topic", "broker", "broker_offset_sum")), strict=True)
    return {(topic, broker): end for topic, broker, end in values if end is not None}


# How long the first unconsumed message of each group, topic and broker has waited, with the same value as on pages.

PartKey = tuple[int, str, str]  # group id, topic, broker


def part_waits(
    overlay: Overlay, cluster_id: int, groups: Mapping[int, ExporterGroup], parts: Iterable[TopicPart]
) -> dict[PartKey, float]:
    """Seconds, the longest of the queues; absent where that of a queue is unknown, or known as a lower bound only. Two
    queries.
    """
    waits: dict[PartKey, float | None] = {
        (part.group_id, part.topic, part.broker): 0.0 for part in parts if part.lag_messages is not None
    }
    samples = store_times(QueueSample.objects.filter(group__cluster=cluster_id))
    read_at = {broker.name: broker.last_read_at for broker in overlay.clusters[cluster_id].brokers}
    for group, queue, topic, broker, offset, first_us, seconds, kind in _behind(cluster_id):
        key = (group, topic, broker)
        before = waits.get(key)
        if before is not None:
            judged = (seconds, kind) if groups[group].is_judged else NOT_JUDGED
            wait, kind = first_wait(samples.get((group, queue)), offset, first_us, read_at[broker], judged)
            waits[key] = None if wait is None or kind == TimeLagKind.AT_LEAST else max(before, wait)
    return {key: wait for key, wait in waits.items() if wait is not None}


def _behind(cluster_id: int) -> Iterable[tuple[int, int, str, str, int, int | None, float | None, str | None]]:
    """The queues with lag: group and queue id, topic, broker, consumer offset, when polls say that its message was
    stored, evaluated seconds and their kind.
    """
    rows = QueueSnapshot.objects.filter(KNOWN_LAG, group__cluster=cluster_id, broker_offset__gt=F("consumer_offset"))
    columns = ("group_id", "queue_id", "queue__topic__name", "queue__broker", "consumer_offset", "first_stored_us")
    return (
        with_evaluated(rows)
        .values_list(*columns, "judged_seconds", "judged_kind")
        .order_by()
        .iterator(chunk_size=CHUNK)
    )


# Members with the labels of rocketmq-exporter's families: those of the newest complete answer, and their recent
# reports.


class ExporterClient(NamedTuple):
    """`said`: {topic: {consume_ok_tps, consume_failed_tps, consume_failed_messages, consume_rt, pull_rt, pull_tps}},
    null where the member's last report is too old.
    """

    client_id: str
    address: str
    said: Mapping[str, Mapping[str, float | int | None]] | None


def exporter_clients(
    cluster_id: int, groups: Container[int], now: datetime, limits: Limits
) -> dict[int, list[ExporterClient]]:
    """The present members of the `groups`, by group id, in the order of their ids. One query."""
    since = now - timedelta(seconds=max(limits.late_seconds, LEAST_SECONDS))
    fresh = When(running_info_at__gte=since, running_info_error=None, then=F("consume_status"))
    present = Client.objects.filter(group__cluster=cluster_id, gone_by=None).order_by("client_id")
    rows = present.annotate(said=Case(fresh, output_field=JSONField()))
    found: dict[int, list[ExporterClient]] = {}
    for group, *client in rows.values_list("group_id", "client_id", "address", "said").iterator(chunk_size=CHUNK):
        if group in groups:
            found.setdefault(group, []).append(ExporterClient._make(client))
    return found


class BrokerCounts(NamedTuple):
    """A broker's own counts of its last minute, null where it has none: of a topic, or of a group's part of it."""

    bytes_per_second: float | None
    sent_back_messages: int | None


def broker_counts(cluster_id: int, now: datetime, limits: Limits) -> dict[tuple[str, str, str], BrokerCounts]:
    """By topic, broker and group ("" of the topic itself), where they were asked for lately. One query."""
    since = now - timedelta(seconds=max(limits.late_seconds, LEAST_SECONDS))
    rows = BrokerStatistic.objects.filter(cluster=cluster_id, asked_at__gte=since)
    names = ("topic", "broker", "group", "bytes_per_second", "sent_back_messages")
    return {
        (topic, broker, group): BrokerCounts(size, back)
        for topic, broker, group, size, back in rows.values_list(*names)
    }


@dataclass(frozen=True)
class ExporterCluster:
    """`clusters`: RocketMQ's name of the cluster of each broker that is read, by the broker's name; null: nobody
    reported it. `counts`: of broker_counts.
    """

    name: str
    clusters: Mapping[str, str | None]
    groups: Mapping[int, ExporterGroup]
    parts: Sequence[TopicPart]
    waits: Mapping[PartKey, float]
    ends: Mapping[tuple[str, str], int | None]
    moved: Moved
    clients: Mapping[int, Sequence[ExporterClient]]
    counts: Mapping[tuple[str, str, str], BrokerCounts]


def exporter_cluster(overlay: Overlay, age: ClusterAge, lake: Lake, gauges: Iterable[GroupGauges]) -> ExporterCluster:
    """`gauges` are those of this cluster's groups. Ten queries and three files at the most, however many groups there
    are.
    """
    groups = exporter_groups(overlay, gauges)
    read = {broker.name for broker in age.brokers if not overlay.is_unread(broker)}
    exact = {broker.name for broker in age.brokers if overlay.has_exact_lags(broker)}
    parts = topic_parts(age.id, groups, read, exact)
    return ExporterCluster(
        name=age.name,
        clusters={name: cluster for name, cluster in cluster_names(age.id).items() if name in read},
        groups=groups,
        parts=parts,
        waits=part_waits(overlay, age.id, groups, parts),
        ends=broker_ends(age.id, {part.topic for part in parts}, read),
        moved=moved(lake, age.id, age.name, overlay.now, overlay.limits),
        clients=exporter_clients(age.id, groups, overlay.now, overlay.limits),
        counts=broker_counts(age.id, overlay.now, overlay.limits),
    )
