"""Arrow tables of a bucket of groups in, Arrow tables of their rebalances out; a group is in one bucket, whole.

No Spark, no Django, no clock: a bucket may be evaluated on the driver or in any task that has its tables.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.arrays.columns import bools
from consumers.pipeline.kernel.arrays.segments import MICROSECONDS
from consumers.rocketmq.names import RETRY_PREFIX

from .causes import causes_of
from .events import Limits, ObservedRebalance, SampledTimes, observed_rebalances, sampled_of
from .history import BROADCASTING, GroupHistory, MemberInterval, TopicQueue, histories
from .member_rows import Place, is_held, microseconds_of
from .queue_costs import CostSpan, OffsetReading, OwnerAnswer, OwnerSample, QueueHistory
from .tables import EVENTS, GROUP, PLACE, SPANS, TOPICS
from .topic_costs import topic_cost

# How long before a rebalance offsets are looked at, so that how fast a queue was consumed can be told.
REACH_US = 60 * MICROSECONDS

Group = tuple[str, str]
Row = dict[str, Any]


def find_events(
    groups: pa.Table, membership: pa.Table, ownership: pa.Table, durations: Durations
) -> tuple[pa.Table, pa.Table]:
    """Tables EVENTS and SPANS; `groups` is a table GROUPS, the others hold the lake's rows of the groups."""
    limits = Limits.of(durations)
    events, spans = [], []
    for history in histories(groups, membership, ownership, limits.lookback_us, limits.patience_us):
        # The first reading of a group shows no change: rebalances that the lake has nothing of any more are left alone.
        spans.append({**history.key, "anchor_us": max(history.times[0], history.row["since_us"] - 1)})
        events += [_event(one, history, durations) for one in observed_rebalances(history, limits)]
    return pa.Table.from_pylist(events, EVENTS), pa.Table.from_pylist(spans, SPANS)


def undecided_groups(
    groups: pa.Table, membership: pa.Table, ownership: pa.Table, from_us: int, durations: Durations
) -> pa.Table:
    """Those of `groups` of which find_events needs rows from before `from_us` too."""
    limits = Limits.of(durations)
    found = histories(groups, membership, ownership, limits.lookback_us, limits.patience_us)
    decided = {_group(one.row) for one in found if one.suffices_from(from_us)}
    keys = zip(groups["cluster"].to_pylist(), groups["group"].to_pylist(), strict=True)
    return groups.filter(pa.array([key not in decided for key in keys], pa.bool_()))


def _event(rebalance: ObservedRebalance, history: GroupHistory, durations: Durations) -> Row:
    causes, sampled = causes_of(rebalance, durations), sampled_of(rebalance)
    before, after = rebalance.client_ids_before, rebalance.client_ids_after
    return {
        **history.key,
        "started_after_us": rebalance.started_after_us,
        "started_before_us": rebalance.started_before_us,
        "last_change_us": rebalance.last_change_us,
        "settled_us": rebalance.settled_us,
        "dated_us": causes.dated_us,
        "end_us": rebalance.end_us,
        "episode_us": rebalance.episode_us,
        "rollout": rebalance.rollout,
        "polls": rebalance.polls,
        "cause": causes.cause,
        "evidence": causes.evidence,
        "members_before": None if before is None else len(before),
        "members_after": len(after),
        "client_ids_before": before,
        "client_ids_after": after,
        "topics": rebalance.topics,
        "is_broadcasting": history.listings.message_model[-1] == BROADCASTING,
        "before_us": sampled.before_us,
        "after_us": sampled.after_us,
        "sampled_us": sampled.all_us,
    }


def earliest_us(events: pa.Table) -> int | None:
    """From when on find_costs wants rows of readings."""
    starts = pc.coalesce(events["before_us"], events["started_after_us"], events["started_before_us"])
    first = pc.min(starts).as_py()
    return None if first is None else first - REACH_US


def find_costs(
    events: pa.Table,
    groups: pa.Table,
    ownership: pa.Table,
    readings: pa.Table,
    last_owners: pa.Table,
    durations: Durations,
) -> pa.Table:
    """A table TOPICS. `events`, `groups`, `last_owners`: EVENTS, GROUPS, LAST_OWNERS; the others hold the lake's rows
    of the groups, from earliest_us on."""
    wanted = {_group(one) for one in events.select(GROUP).to_pylist()}
    answers, offsets = _answers(ownership, wanted), _offsets(readings, wanted)
    earlier: dict[tuple, dict[Place, OwnerAnswer]] = defaultdict(dict)
    for one in last_owners.to_pylist():
        reported = (one["client_id"], None, one["commit_offset"], one["cached_min"], one["cached_max"])
        earlier[_group(one), one["event_us"]][_place(one)] = OwnerAnswer(one["at_us"], *reported)
    by_key = {key: row for row in groups.to_pylist() if (key := _group(row)) in wanted}
    rows: list[Row] = []
    for event in events.to_pylist():
        key = _group(event)
        known = GroupRows(by_key[key], answers.get(key, TimedRows()), offsets.get(key, TimedRows()))
        before = earlier.get((key, event["started_before_us"]), {})
        rows += _topics(event, known, before, durations.commit_interval_seconds)
    return pa.Table.from_pylist(rows, TOPICS)


class TimedRows:
    """What was reported of queues, in the order of time."""

    def __init__(self, times: Sequence[int] = (), rows: Sequence[tuple[Place, Any]] = ()) -> None:
        self._times, self._rows = times, rows

    def between(self, first_us: int, last_us: int) -> dict[Place, list[Any]]:
        """Both included."""
        found: dict[Place, list[Any]] = defaultdict(list)
        for place, one in self._rows[bisect_left(self._times, first_us) : bisect_right(self._times, last_us)]:
            found[place].append(one)
        return found


class GroupRows:
    """All that is known of a group's queues."""

    def __init__(self, row: Mapping[str, Any], answers: TimedRows, offsets: TimedRows) -> None:
        self.answers, self.offsets = answers, offsets
        names = MemberInterval.__slots__
        self.intervals = [MemberInterval(**{name: one[name] for name in names}) for one in row["clients"] or ()]
        self.subscribed: set[str] = set(row["subscribed"] or ())
        self.wanted: dict[Place, list[tuple[int | None, int | None]]] = defaultdict(list)
        for queue in (TopicQueue(**one) for one in row["queues"] or ()) if row["shares_queues"] else ():
            if (span := queue.wanted()) is not None:
                self.wanted[queue.place].append(span)


def _topics(
    event: Row, known: GroupRows, earlier: Mapping[Place, OwnerAnswer], commit_interval_seconds: float
) -> Iterator[Row]:
    """One row per topic that members subscribe to, or of which they hold a queue or should; retry topics have none."""
    times = SampledTimes(event["before_us"], event["after_us"], event["sampled_us"])
    bounds = (event["started_after_us"], event["started_before_us"], event["end_us"])
    span = CostSpan(*bounds, event["is_broadcasting"], times)
    topics: dict[str, dict[tuple[str, int], QueueHistory]] = {
        topic: {} for topic in sorted(known.subscribed | set(event["topics"])) if not topic.startswith(RETRY_PREFIX)
    }
    for (topic, broker, queue_id), queue in _queues(span, known, earlier).items():
        topics.setdefault(topic, {})[broker, queue_id] = queue
    named = {*known.subscribed, *event["topics"]}
    for topic, queues in topics.items():
        if topic in named or any(queue.is_of_group for queue in queues.values()):
            key = {name: event[name] for name in (*GROUP, "started_before_us")}
            yield {**key, "topic": topic, **topic_cost(span, queues, commit_interval_seconds)}


def _queues(span: CostSpan, known: GroupRows, earlier: Mapping[Place, OwnerAnswer]) -> dict[Place, QueueHistory]:
    times = span.times
    first_us = span.started_before_us if times.before_us is None else times.before_us
    reach_us = times.before_us if times.before_us is not None else span.started_after_us
    reach_us = (span.started_before_us if reach_us is None else reach_us) - REACH_US
    answers, offsets = known.answers.between(first_us, span.end_us), known.offsets.between(reach_us, span.end_us)
    members = {at_us: {one.client_id for one in known.intervals if one.is_listed(at_us)} for at_us in times.all_us}
    places = {*answers, *offsets, *known.wanted, *earlier}
    return {
        place: QueueHistory(
            span,
            _samples(answers.get(place, ()), known.wanted.get(place, ()), members),
            sorted(answers.get(place, ()), key=lambda one: one[:2]),
            offsets.get(place, ()),
            known.wanted.get(place, ()),
            earlier.get(place),
        )
        for place in places
    }


def _samples(
    answers: Iterable[OwnerAnswer],
    wanted: Sequence[tuple[int | None, int | None]],
    members: Mapping[int, Collection[str]],
) -> list[OwnerSample]:
    """At each time of `members`, who of those held the queue."""
    owners: dict[int, set[str]] = defaultdict(set)
    for one in answers:
        if one.client_id in members.get(one.at_us, ()):
            owners[one.at_us].add(one.client_id)
    return [
        OwnerSample(
            at_us,
            tuple(sorted(owners[at_us])),
            any((since is None or since <= at_us) and (until is None or until > at_us) for since, until in wanted),
        )
        for at_us in members
    ]


def _answers(ownership: pa.Table, wanted: Collection[Group]) -> dict[Group, TimedRows]:
    rows = ownership.filter(pa.array(is_held(ownership) & bools(pc.is_null(ownership["error"]))))
    names = ["client_id", "started_at", "commit_offset", "cached_min", "cached_max"]
    return _timed(rows, wanted, names, OwnerAnswer)


def _offsets(readings: pa.Table, wanted: Collection[Group]) -> dict[Group, TimedRows]:
    is_counted = bools(pc.not_equal(readings["kind"], "dlq")) & ~bools(pc.starts_with(readings["topic"], RETRY_PREFIX))
    rows = readings.filter(pa.array(is_counted))
    return _timed(rows, wanted, ["consumer_offset", "broker_offset", "unknown_reason"], OffsetReading)


def _timed(rows: pa.Table, wanted: Collection[Group], names: Sequence[str], kind: Any) -> dict[Group, TimedRows]:
    at_us = microseconds_of(rows["taken_at"])
    order = pa.array(np.argsort(at_us, kind="stable"))
    rows, at_us = rows.take(order), at_us[order.to_numpy()]
    columns = (rows[name] for name in names)
    values = (one.cast(pa.int64()) if pa.types.is_timestamp(one.type) else one for one in columns)
    times: dict[Group, list[int]] = defaultdict(list)
    found: dict[Group, list[tuple[Place, Any]]] = defaultdict(list)
    groups = zip(*(rows[name].to_pylist() for name in GROUP), strict=True)
    places = zip(*(rows[name].to_pylist() for name in PLACE), strict=True)
    reported = zip(at_us.tolist(), *(one.to_pylist() for one in values), strict=True)
    for group, place, one in zip(groups, places, reported, strict=True):
        if group in wanted:
            times[group].append(one[0])
            found[group].append((place, kind._make(one)))
    return {group: TimedRows(times[group], found[group]) for group in found}


def _group(row: Mapping[str, Any]) -> Group:
    return row["cluster"], row["group"]


def _place(row: Mapping[str, Any]) -> Place:
    return row["topic"], row["broker"], row["queue_id"]
