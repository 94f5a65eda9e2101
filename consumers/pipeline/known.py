"""Rows of the poll that the history store lacks: listed members, and queues without rows in the readings. As Arrow
tables, which Spark takes. What is known of groups: kinds.py."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import pyarrow as pa
from django.db.models import Q
from django.db.models.fields.json import KT

from consumers.lake.schemas import TEXT
from consumers.models import Broker, Client, ConsumerGroup, QueueSnapshot, QueueState, Reading, ResetMethod, ResetQueue
from consumers.polling.record.recorder import HISTORY_ERROR
from consumers.polling.record.totals import MAY_HAVE_MOVED
from consumers.rocketmq.bodies.fields import count_of
from consumers.vocabulary.states import MASTER, State, UnknownReason
from consumers.vocabulary.times import microseconds

from .kernel import evidence
from .kernel.evidence import Known
from .slices import minutes

# A broker tells members to go on elsewhere, and they commit what they were told, a few seconds after it was asked to.
MOVED_WITHIN = timedelta(seconds=15)

# Above these a member pulls no more of one queue, by its own settings: by the column, the name of the setting. Those of
# a topic are shared out among its queues by the member itself, which then reports these as changed (RocketMQ 5.4.0,
# RebalancePushImpl.messageQueueChanged).
THRESHOLDS = {
    "pull_threshold": "pullThresholdForQueue",
    "pull_threshold_mib": "pullThresholdSizeForQueue",
    "pull_threshold_span": "consumeConcurrentlyMaxSpan",
}
MEMBERS = pa.schema(
    [("cluster", TEXT), ("group", TEXT), ("client_id", TEXT), *((name, pa.int64()) for name in THRESHOLDS)]
)
QUEUES = [("cluster", TEXT), ("group", TEXT), ("topic", TEXT), ("broker", TEXT), ("queue_id", pa.int32())]
RETENTION = pa.schema([("cluster", TEXT), ("broker", TEXT), ("reserved_seconds", pa.float64())])
SILENT = pa.schema([*QUEUES, ("kind", TEXT)])
STILL = pa.schema([*QUEUES, ("previous_state", TEXT), ("previous_since_us", pa.int64())])
LOST = pa.schema([*QUEUES, ("lost_offset", pa.int64()), ("lost_us", pa.int64())])
HANDS = pa.schema([*QUEUES, ("hands", pa.list_(evidence.HANDS))])
UNREAD = pa.schema([("cluster", TEXT), ("group", TEXT), ("start", pa.timestamp("us", tz="UTC"))])


def known_rows(clusters: Sequence[str], groups: pa.Table, hands: pa.Table) -> Known:
    """What a judgement needs of the poll's rows, and of the last judgement. `groups`: as kinds.py gives them."""
    return Known(
        groups=groups,
        members=listed_members(clusters),
        retention=retention(clusters),
        still=still_queues(clusters),
        lost=lost_offsets(clusters),
        hands=hands,
    )


def listed_members(clusters: Sequence[str]) -> pa.Table:
    """With their THRESHOLDS, null where a member has not reported one."""
    rows = Client.objects.filter(group__cluster__name__in=clusters, gone_by=None)
    settings = {f"told_{name}": KT(f"settings__{setting}") for name, setting in THRESHOLDS.items()}
    found = rows.annotate(**settings).values_list("group__cluster__name", "group__name", "client_id", *settings)
    return _table(((*row[:3], *map(count_of, row[3:])) for row in found), MEMBERS)


def still_queues(clusters: Sequence[str]) -> pa.Table:
    """Queues that were judged STALL or STOP: when they last moved may lie before what is read again."""
    rows = QueueState.objects.filter(group__cluster__name__in=clusters, state__in=(State.STALL, State.STOP))
    names = ("group__cluster__name", "group__name", "queue__topic__name", "queue__broker", "queue__queue_id")
    return _table(
        ((*row[:5], row[5], microseconds(row[6])) for row in rows.values_list(*names, "state", "since")), STILL
    )


def lost_offsets(clusters: Sequence[str]) -> pa.Table:
    """Queues whose offset is gone from its broker, with the last one that was read and when."""
    rows = QueueSnapshot.objects.filter(group__cluster__name__in=clusters, lost_at__isnull=False)
    names = ("group__cluster__name", "group__name", "queue__topic__name", "queue__broker", "queue__queue_id")
    found = rows.values_list(*names, "lost_offset", "lost_at")
    return _table(((*row[:6], microseconds(row[6])) for row in found), LOST)


def set_by_hand(clusters: Sequence[str], since: datetime, until: datetime) -> pa.Table:
    """By queue the spans of [since, until) in which a reset of ours may have moved its offset: from its last look at it
    to the first that saw it moved, or as long as that is not known."""
    rows = ResetQueue.objects.filter(
        reset__cluster_name__in=clusters, step__in=MAY_HAVE_MOVED, before_at__isnull=False, before_at__lt=until
    ).filter(Q(written_at__isnull=True) | Q(written_at__gte=since))
    rows = rows.exclude(method=ResetMethod.NOTHING)
    names = ("reset__cluster_name", "reset__group_name", "topic", "broker", "queue_id")
    spans: dict[tuple, list[dict[str, int]]] = {}
    for *place, before_at, written_at, after_at in rows.values_list(*names, "before_at", "written_at", "after_at"):
        # What was written and is not read back yet may move it at any time.
        known = max(at for at in (before_at, written_at, after_at or until) if at is not None)
        end = known + MOVED_WITHIN
        span = {"from_us": microseconds(before_at), "to_us": microseconds(end)}
        spans.setdefault(tuple(place), []).append(span)
    return _table(((*place, found) for place, found in spans.items()), HANDS)


def retention(clusters: Sequence[str]) -> pa.Table:
    """How long brokers keep messages; those that have not said so are left out."""
    rows = Broker.objects.filter(cluster__name__in=clusters, broker_id=0, file_reserved_hours__isnull=False)
    names = ("cluster__name", "name", "file_reserved_hours")
    return _table(((*row[:2], row[2] * 3600.0) for row in rows.values_list(*names)), RETENTION)


class BrokersRead:
    """Which brokers each reading of a range got whole answers from. A reading that the history lacks got none."""

    def __init__(self, clusters: Sequence[str], since: datetime, until: datetime) -> None:
        rows = Reading.objects.filter(cluster__name__in=clusters, taken_at__gte=since, taken_at__lt=until)
        rows = rows.exclude(members__has_key=HISTORY_ERROR)
        self.clusters = clusters
        self.readings = [
            (name, at, {one["name"] for one in brokers if one["read"]})
            for name, at, brokers in rows.values_list("cluster__name", "taken_at", "brokers")
        ]

    def unread(self, since: datetime, until: datetime) -> Iterable[tuple[str, str]]:
        """Cluster and name of every broker that has queues, or of which nothing is known, and that no reading of
        [since, until) got an answer from.
        """
        for cluster in self.clusters:
            read: set[str] = set()
            for name, at, brokers in self.readings:
                if name == cluster and since <= at < until:
                    read |= brokers
            for broker in self._brokers(cluster) - read:
                yield cluster, broker

    def _brokers(self, cluster: str) -> set[str]:
        if not hasattr(self, "_known"):
            self._known: dict[str, set[str]] = {}
        if cluster not in self._known:
            snapshots = QueueSnapshot.objects.filter(group__cluster__name=cluster)
            with_queues = set(snapshots.values_list("queue__broker", flat=True).distinct())
            self._known[cluster] = with_queues | self.never_read(cluster)
        return self._known[cluster]

    def never_read(self, cluster: str) -> set[str]:
        """They may have queues of every group."""
        masters = Broker.objects.filter(cluster__name=cluster, broker_id=MASTER, last_read_at=None)
        return set(masters.values_list("name", flat=True))


def silent_queues(brokers: Iterable[tuple[str, str]]) -> pa.Table:
    """The queues of groups on `brokers`, which have no rows in the readings."""
    names = ("group__cluster__name", "group__name", "queue__topic__name", "queue__broker", "queue__queue_id")
    rows: list[tuple] = []
    for cluster, broker in brokers:
        snapshots = QueueSnapshot.objects.filter(group__cluster__name=cluster, queue__broker=broker)
        rows += snapshots.exclude(queue__topic__kind="dlq").values_list(*names, "queue__topic__kind")
    return _table(rows, SILENT)


def unreported_queues(clusters: Sequence[str], before: datetime, besides: Iterable[tuple[str, str]]) -> pa.Table:
    """Queues of broadcasting groups without a row in the readings since `before`: no member reports their offsets.
    Those of brokers that were not read are `besides`."""
    names = ("group__cluster__name", "group__name", "queue__topic__name", "queue__broker", "queue__queue_id")
    rows = QueueSnapshot.objects.filter(
        group__cluster__name__in=clusters, unknown_reason=UnknownReason.NOT_REPORTED, changed_at__lt=before
    )
    unread = set(besides)
    found = rows.values_list(*names, "queue__topic__kind")
    return _table((row for row in found if (row[0], row[3]) not in unread), SILENT)


def unread_groups(read: BrokersRead, since: datetime, until: datetime) -> pa.Table:
    """The groups and minutes in which a broker was not read that has queues of the group, or may have them."""
    held: dict[tuple[str, str], list[str]] = {}
    rows: set[tuple[str, str, datetime]] = set()
    for start in minutes(since, until):
        for place in read.unread(start, start + timedelta(minutes=1)):
            if place not in held:
                held[place] = _groups_on(*place, anywhere=place[1] in read.never_read(place[0]))
            rows |= {(place[0], name, start) for name in held[place]}
    return _table(sorted(rows), UNREAD)


def _groups_on(cluster: str, broker: str, *, anywhere: bool) -> list[str]:
    """With queues on the broker; `anywhere`: all of the cluster, as nobody knows what the broker has."""
    groups = ConsumerGroup.objects.filter(cluster__name=cluster)
    if not anywhere:
        groups = groups.filter(snapshots__queue__broker=broker).distinct()
    return list(groups.values_list("name", flat=True))


def _table(rows: Iterable[Sequence[object]], schema: pa.Schema) -> pa.Table:
    columns: list[Sequence[object]] = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )
