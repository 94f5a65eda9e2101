"""The rebalances of a range, with causes and costs. Where no group changed no file is opened, as in most runs.

pyarrow reads the lake's files, of the changed groups alone, and the driver evaluates them as one bucket: few groups
change in a run, and handing them to Spark's Python workers and back would take longer than all the rest. Both steps,
find_events and find_costs, are tables in and tables out of whole groups, so that a task could take some of them.

First what happened, a handful of rows; then what it cost, by the readings around those alone. A reading is a file of
each table: those of the minutes before the range suffice where every member reported in one of them, and half an hour
of files is opened only for groups where none did.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from django.db.models import Q

from consumers.lake import reader
from consumers.lake.schemas import MEMBERSHIP, TABLES, TIME
from consumers.lake.store import Lake
from consumers.models import Assignment, Client, ClientSubscription, ConsumerGroup, Queue, Reading, Rebalance
from consumers.pipeline.durations import Durations
from consumers.pipeline.rebalances.find import earliest_us, find_costs, find_events, undecided_groups
from consumers.polling.members.membership import NO_ANSWER, pop_answers
from consumers.rocketmq.bodies.client_bodies import may_hold
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.vocabulary.times import from_microseconds, microseconds

from .tables import GROUPS, LAST_OWNERS, OWNERSHIP_COLUMNS, READINGS_COLUMNS

# A run finds the rebalances that begin in its range, and takes up again, from its own beginning, the stored one that is
# not over when the range begins: so each is found under the same key in every run, however the time is cut into runs.

CLIENT_FIELDS = (
    "group_id",
    "client_id",
    "address",
    "started_at",
    "seen_since",
    "last_seen",
    "gone_by",
    "duplicated_since",
    "running_info_at",
    "settings",
)


@dataclass(frozen=True)
class RebalanceInputs:
    joined: dict[int, list[int]]  # by group, in order
    clients: dict[int, list[dict[str, Any]]]  # by group
    topics: dict[int, set[str]]  # by group
    queues: dict[tuple[int, str], list[dict[str, Any]]]  # by cluster and topic
    brokers: dict[int, list[dict[str, Any]]]  # by cluster

    @classmethod
    def of(
        cls, groups: Sequence[ConsumerGroup], since: datetime, until: datetime, episodes: Mapping[int, datetime]
    ) -> "RebalanceInputs":
        """`episodes`: since when the stored episodes of groups last."""
        topics = _topics(groups, since)
        clusters = {group.cluster_id for group in groups}
        return cls(
            _joined({group.pk: min(since, episodes.get(group.pk, since)) for group in groups}, until),
            _clients(groups, since, until),
            topics,
            _queues(clusters, set().union(*topics.values())),
            {cluster: _comings_and_goings(cluster, since, until) for cluster in clusters},
        )

    def of_group(self, group: ConsumerGroup) -> dict[str, list[Any]]:
        queues = [
            queue for topic in sorted(self.topics[group.pk]) for queue in self.queues.get((group.cluster_id, topic), ())
        ]
        held_by = {queue["broker"] for queue in queues}
        return {
            "joined_us": self.joined.get(group.pk, []),
            "clients": self.clients.get(group.pk, []),
            "queues": queues,
            "brokers": [one for one in self.brokers[group.cluster_id] if one["broker"] in held_by],
        }


def _joined(since: Mapping[int, datetime], until: datetime) -> dict[int, list[int]]:
    """`since`: by group."""
    found: dict[int, list[int]] = defaultdict(list)
    rows = Client.objects.filter(group__in=since, seen_since__gte=min(since.values()), seen_since__lt=until)
    for group, at in rows.order_by("seen_since").values_list("group_id", "seen_since"):
        if at >= since[group]:
            found[group].append(microseconds(at))
    return found


def _clients(groups: Sequence[ConsumerGroup], since: datetime, until: datetime) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    rows = Client.objects.filter(Q(gone_by=None) | Q(gone_by__gte=since), group__in=groups, seen_since__lt=until)
    for row in rows.order_by("seen_since", "client_id").only(*CLIENT_FIELDS).iterator():
        found[row.group_id].append(
            {
                "client_id": row.client_id,
                "address": row.address,
                "started_us": _us(row.started_at),
                "seen_us": microseconds(row.seen_since),
                "last_seen_us": microseconds(row.last_seen),
                "gone_us": _us(row.gone_by),
                "doubled_us": _us(row.duplicated_since),
                "answered_us": _us(row.running_info_at),
                "may_hold": may_hold(row.settings),
            }
        )
    return found


def _topics(groups: Sequence[ConsumerGroup], since: datetime) -> dict[int, set[str]]:
    """What members say that they subscribe to, then or at some time since; the retry topic is not shared out."""
    found = {group.pk: {one["topic"] for one in group.subscriptions} for group in groups}
    rows = ClientSubscription.objects.filter(Q(gone_by=None) | Q(gone_by__gte=since), group__in=groups)
    for group, topic in rows.values_list("group_id", "topic").distinct():
        found[group].add(topic)
    return {group: {topic for topic in topics if not topic.startswith(RETRY_PREFIX)} for group, topics in found.items()}


def _queues(clusters: set[int], topics: set[str]) -> dict[tuple[int, str], list[dict[str, Any]]]:
    found: dict[tuple[int, str], list[dict[str, Any]]] = defaultdict(list)
    names = ("topic__cluster_id", "topic__name", "broker", "queue_id", "first_seen_at", "readable", "readable_since")
    rows = Queue.objects.filter(topic__cluster__in=clusters, topic__name__in=topics).order_by("broker", "queue_id")
    for cluster, topic, broker, queue_id, first_seen_at, readable, readable_since in rows.values_list(*names):
        found[cluster, topic].append(
            {
                "topic": topic,
                "broker": broker,
                "queue_id": queue_id,
                "first_seen_us": _us(first_seen_at),
                "readable": readable,
                "readable_us": _us(readable_since),
            }
        )
    return found


def _comings_and_goings(cluster: int, since: datetime, until: datetime) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    was_read: Mapping[str, bool] = {}
    rows = Reading.objects.filter(cluster=cluster, taken_at__gte=since, taken_at__lt=until).order_by("taken_at")
    for at, brokers in rows.values_list("taken_at", "brokers"):
        is_read = {one["name"]: bool(one["read"]) for one in brokers}
        for name, read in is_read.items():
            if was_read.get(name, read) != read:
                found.append({"broker": name, "at_us": microseconds(at), "is_read": read})
        was_read = {**was_read, **is_read}
    return found


def _us(at: datetime | None) -> int | None:
    return None if at is None else microseconds(at)


# How far a member's clock may be behind: its own time of a change is all that tells of some.
CLOCK = timedelta(seconds=60)


@dataclass(frozen=True)
class ChangedGroups:
    """`rows`: one row per group, with the columns of GROUPS. `reach`: no reading before it is looked at."""

    rows: pa.Table
    reach: datetime

    @classmethod
    def of(
        cls, clusters: Sequence[str], since: datetime, until: datetime, durations: Durations
    ) -> "ChangedGroups | None":
        """None where there is nothing to look at, which is what most runs find. Four queries then, ten otherwise."""
        stored = StoredRebalances.of(clusters, since, until, durations)
        groups = _changed(clusters, since, until, stored.open)
        if not groups:
            return None
        lookback = timedelta(seconds=durations.rebalance_lookback_seconds)
        starts = {
            group.pk: min(since, *stored.begun(group.pk)) if stored.begun(group.pk) else since for group in groups
        }
        reach = min(starts.values()) - lookback
        pops = pop_answers(starts)
        episodes = {pk: row.episode_since for pk, row in stored.before.items()}
        inputs = RebalanceInputs.of(groups, reach, until, episodes)
        rows = [
            {
                "cluster": group.cluster.name,
                "group": group.name,
                "since_us": microseconds(starts[group.pk]),
                "reach_us": microseconds(starts[group.pk] - lookback),
                "opened_us": next(map(microseconds, stored.begun(group.pk)), None),
                "shares_queues": pops.get(group.pk, NO_ANSWER).pops is not True,
                **stored.episode_before(group.pk),
                "subscribed": sorted({one["topic"] for one in group.subscriptions}),
                **inputs.of_group(group),
            }
            for group in groups
        ]
        return cls(pa.Table.from_pylist(rows, GROUPS), reach)


@dataclass(frozen=True)
class StoredRebalances:
    """Of a group: `open`, the one that is not over when the range begins, and `before`, the one before that."""

    open: dict[int, Rebalance]
    before: dict[int, Rebalance]
    episodes: dict[tuple[int, datetime], datetime | None]

    @classmethod
    def of(cls, clusters: Sequence[str], since: datetime, until: datetime, durations: Durations) -> "StoredRebalances":
        # One that never settled is given up so long after its last change; two in a row are one that was cut.
        longest = timedelta(seconds=durations.rebalance_longest_seconds)
        lately = since - 2 * longest - timedelta(seconds=durations.rebalance_merge_seconds)
        rows = Rebalance.objects.filter(
            group__cluster__name__in=clusters, started_before__lt=since, last_change_at__gte=lately
        ).order_by("started_before")
        opened: dict[int, Rebalance] = {}
        before: dict[int, Rebalance] = {}
        for row in rows:
            is_over = row.settled_at < since if row.settled_at else row.last_change_at <= since - longest
            if is_over:
                before[row.group_id] = row
                opened.pop(row.group_id, None)
            else:
                opened.setdefault(row.group_id, row)
        return cls(opened, before, _episode_starts(before.values()))

    def begun(self, group: int) -> tuple[datetime, ...]:
        return (self.open[group].started_before,) if group in self.open else ()

    def episode_before(self, group: int) -> dict[str, int | None]:
        row = self.before.get(group)
        if row is None:
            return {"episode_end_us": None, "episode_us": None, "episode_after_us": None}
        after = self.episodes.get((group, row.episode_since))
        return {
            "episode_end_us": microseconds(row.settled_at or row.last_change_at),
            "episode_us": microseconds(row.episode_since),
            "episode_after_us": microseconds(after) if after else None,
        }


def _episode_starts(rows: Iterable[Rebalance]) -> dict[tuple[int, datetime], datetime | None]:
    """The last reading before the episodes of `rows` began."""
    firsts = Rebalance.objects.filter(
        group__in={row.group_id for row in rows}, started_before__in={row.episode_since for row in rows}
    )
    return {
        (group, at): after for group, at, after in firsts.values_list("group_id", "started_before", "started_after")
    }


def _changed(clusters: Sequence[str], since: datetime, until: datetime, opened: Iterable[int]) -> list[ConsumerGroup]:
    """A group that changed again after the range keeps the later time only: it is looked at all the same."""
    touched = Q(members_changed_at__gte=since) | Q(sub_version__gte=since - CLOCK) | Q(pk__in=list(opened))
    groups = ConsumerGroup.objects.filter(touched, cluster__name__in=clusters, first_seen_at__lt=until)
    return list(groups.select_related("cluster").order_by("pk"))


# Who was last seen to hold queues that had no owner when a rebalance began: the poll's rows reach further back than
# the readings that are looked at.

SAID = ("client_id", "commit_offset", "cached_min", "cached_max")

# What was held longer ago has been consumed by others, reset or expired since.
REACH = timedelta(days=2)

GROUPS_AT_ONCE = 500

Group = tuple[str, str]


def last_owners(events: pa.Table) -> pa.Table:
    """One row per rebalance and queue of which an owner is known that was gone before the reading before it."""
    before: dict[Group, list[tuple[int, int]]] = defaultdict(list)
    for one in events.select(["cluster", "group", "started_before_us", "before_us"]).to_pylist():
        if one["before_us"] is not None:
            before[one["cluster"], one["group"]].append((one["before_us"], one["started_before_us"]))
    names = sorted({group for _, group in before})
    newest: dict[tuple, tuple] = {}
    for start in range(0, len(names), GROUPS_AT_ONCE):
        for group, place, at_us, reported in _ended(names[start : start + GROUPS_AT_ONCE], before):
            for before_us, event_us in before.get(group, ()):
                # In the order of their last answers: a later one takes the place of an earlier one.
                if at_us < before_us:
                    newest[*group, *place, event_us] = (at_us, *reported)
    return _table((*key, *values) for key, values in newest.items())


def _ended(names: Sequence[str], before: dict[Group, list[tuple[int, int]]]) -> Iterable[tuple]:
    earliest = min(before_us for events in before.values() for before_us, _ in events)
    rows = Assignment.objects.filter(
        group__name__in=names,
        gone_by__isnull=False,
        last_seen__gte=from_microseconds(earliest) - REACH,
    ).order_by("last_seen")
    places = ("queue__topic__name", "queue__broker", "queue__queue_id")
    for row in rows.values_list("group__cluster__name", "group__name", *places, "last_seen", *SAID).iterator():
        yield row[:2], row[2:5], microseconds(row[5]), row[6:]


def _table(rows: Iterable[Sequence[object]]) -> pa.Table:
    columns: list[Sequence[object]] = list(zip(*rows, strict=True)) or [()] * len(LAST_OWNERS)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, LAST_OWNERS, strict=True)]
    return pa.table(arrays, schema=LAST_OWNERS)


# Before what is evaluated: in one of so many readings every member may have reported.
RECENT_POLLS = 4


@dataclass(frozen=True)
class Rebalances:
    """`events`: one row each. `topics`: what each did to each topic; none where there is no event. `spans`: cluster,
    group, anchor_us: the groups that were looked at, each from when on: what began later would have been found."""

    events: pa.Table
    topics: pa.Table | None
    spans: pa.Table


def find_rebalances(
    lake: Lake, clusters: Sequence[str], since: datetime, until: datetime, durations: Durations
) -> Rebalances | None:
    """Of [since, until), and those still open at `since`; None where no group may have one."""
    changed = ChangedGroups.of(clusters, since, until, durations)
    if changed is None:
        return None
    groups = changed.rows
    membership, ownership = _members(lake, groups, changed.reach, until, durations)
    events, spans = find_events(groups, membership, ownership, durations)
    first_us = earliest_us(events)
    if first_us is None:
        return Rebalances(events, None, spans)
    first = from_microseconds(first_us)
    readings = _rows(lake, "readings", READINGS_COLUMNS, events, first, until)
    lately = ownership.filter(pc.greater_equal(ownership["taken_at"], pa.scalar(first, ownership["taken_at"].type)))
    return Rebalances(events, find_costs(events, groups, lately, readings, last_owners(events), durations), spans)


def _members(
    lake: Lake, groups: pa.Table, reach: datetime, until: datetime, durations: Durations
) -> tuple[pa.Table, pa.Table]:
    """Rows of membership and ownership, from `reach` on where the newest do not suffice."""
    recent = durations.rebalance_patience_seconds + RECENT_POLLS * durations.poll_seconds
    earliest = from_microseconds(pc.min(groups["since_us"]).as_py())
    start = max(earliest - timedelta(seconds=recent), reach)

    def read(wanted: pa.Table, since: datetime, until: datetime) -> tuple[pa.Table, pa.Table]:
        return (
            _rows(lake, "membership", MEMBERSHIP.names, wanted, since, until),
            _rows(lake, "ownership", OWNERSHIP_COLUMNS, wanted, since, until),
        )

    newest = read(groups, start, until)
    undecided = undecided_groups(groups, *newest, microseconds(start), durations)
    if not undecided.num_rows:
        return newest
    older = read(undecided, reach, start)
    return pa.concat_tables([older[0], newest[0]]), pa.concat_tables([older[1], newest[1]])


def _rows(
    lake: Lake, table: str, columns: Sequence[str], groups: pa.Table, since: datetime, until: datetime
) -> pa.Table:
    """Of these groups alone."""
    parts = []
    for cluster in pc.unique(groups["cluster"]).to_pylist():
        names = groups.filter(pc.equal(groups["cluster"], cluster))["group"].unique()
        parts.append(_rows_of_cluster(lake, table, cluster, columns, names, since, until))
    schema = pa.schema([TABLES[table].field(name) for name in columns])
    return pa.concat_tables([schema.empty_table(), *parts])


def _rows_of_cluster(
    lake: Lake, table: str, cluster: str, columns: Sequence[str], names: pa.Array, since: datetime, until: datetime
) -> pa.Table:
    time = pc.field("taken_at")
    is_wanted = pc.field("group").isin(names) & (time >= pa.scalar(since, TIME)) & (time < pa.scalar(until, TIME))

    def rows(found: list[str]) -> pa.Table:
        return reader.dataset(lake, table, found).to_table(columns=list(columns), filter=is_wanted)

    return reader.steadily(lake, lambda: reader.files(lake, table, cluster, since, until), rows)
