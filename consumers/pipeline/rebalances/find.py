"""Arrow tables of a bucket of groups in, Arrow tables of their rebalances out; a group is in one bucket, whole.

No Spark, no Django, no clock: a bucket may be evaluated on the driver or in any task that has its tables.
"""

import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.columns import bools
from consumers.pipeline.kernel.segments import MICROSECONDS
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.vocabulary.reasons import RebalanceReason
from consumers.vocabulary.states import NO_LAG_REASONS

from .causes import causes_of
from .events import Limits, ObservedRebalance, SampledTimes, observed_rebalances, sampled_of
from .history import BROADCASTING, GroupHistory, MemberInterval, TopicQueue, histories
from .member_rows import Place, is_held, microseconds_of
from .queue_costs import Bounds, CostSpan, OffsetReading, OwnerAnswer, OwnerSample, QueueHistory, Replay, replay_of
from .tables import EVENTS, GROUP, LAGS, LAPSES, LAPSES_OF_QUEUE, PLACE, REPLAYED, REPLAYED_OFFSETS, SPANS, TOPICS


# What a rebalance did to each topic: sums over its queues, null with a reason as soon as a part is unknown.
@dataclass(frozen=True)
class QueueCost:
    """Of a queue of the group."""

    broker: str
    queue_id: int
    queue: QueueHistory
    replay: Replay

    @property
    def lapses(self) -> tuple[Bounds, Bounds] | None:
        """Without an owner, and with several; None: unknown."""
        span = self.queue.span
        return None if span.is_broadcasting or span.not_sampled else (self.queue.unowned, self.queue.doubly_owned)

    @property
    def is_worth_reporting(self) -> bool:
        has_lapsed = self.lapses is not None and any(one.sampled > 0 for one in self.lapses)
        is_unknown = self.replay.why is not None and self.lapses is not None
        return self.queue.has_moved or is_unknown or has_lapsed or (self.replay.replayed_messages or 0) > 0

    def move(self) -> dict[str, Any]:
        """A row of MOVE."""
        lapses = self.lapses or ()
        micros = [amount for one in lapses for amount in (one.sampled, one.low, one.high)]
        seconds: list[float | None] = [one / MICROSECONDS for one in micros]
        seconds = seconds or [None] * len(LAPSES_OF_QUEUE)
        values = dict(zip([*LAPSES_OF_QUEUE, *REPLAYED], [*seconds, *self.replay[:2]], strict=True))
        whys = {
            **dict.fromkeys(LAPSES_OF_QUEUE, RebalanceReason.EVERY_MEMBER),
            **dict.fromkeys(REPLAYED, self.replay.why),
        }
        owners = {"before": self.queue.before, "after": self.queue.after}
        place = {"broker": self.broker, "queue_id": self.queue_id}
        offsets = dict(zip(REPLAYED_OFFSETS, self.replay[3:], strict=True))
        return {**place, **owners, **values, **offsets, "unknown": _reasons(values, whys)}


def topic_cost(
    span: CostSpan, queues: Mapping[tuple[str, int], QueueHistory], commit_interval_seconds: float
) -> dict[str, Any]:
    """The sums, moves and reasons of a row of TOPICS. `queues`: of the topic, by broker and queue id, also those that
    nobody in the group should hold."""
    costs = [
        QueueCost(*place, queue, _replay(queue, commit_interval_seconds))
        for place, queue in sorted(queues.items())
        if queue.is_of_group
    ]
    not_sampled = span.not_sampled or (None if costs else RebalanceReason.NO_QUEUE)
    lapse_why = RebalanceReason.EVERY_MEMBER if span.is_broadcasting else not_sampled
    replay_why = min((one.replay.why for one in costs if one.replay.why is not None), default=None)
    values = {
        "queues": len(costs) or None,
        "queues_moved": None if not_sampled else sum(one.queue.has_moved for one in costs),
        **dict.fromkeys(LAPSES),
        **dict.fromkeys(REPLAYED),
        **_lags(span, queues),
    }
    if lapse_why is None:
        values |= _lapses(costs)
    if costs and replay_why is None:
        values |= {name: sum(getattr(one.replay, name) or 0 for one in costs) for name in REPLAYED}
    whys = {
        "queues": RebalanceReason.NO_QUEUE,
        "queues_moved": not_sampled,
        **dict.fromkeys(LAPSES, lapse_why),
        **dict.fromkeys(REPLAYED, replay_why or (RebalanceReason.OWN_OFFSETS if span.is_broadcasting else not_sampled)),
        **dict(zip(LAGS, (RebalanceReason.LAG_BEFORE, RebalanceReason.LAG_WITHIN), strict=True)),
    }
    moves = [one.move() for one in costs if one.is_worth_reporting]
    return {**values, "moves": moves, "unknown": _reasons(values, whys)}


def _replay(queue: QueueHistory, commit_interval_seconds: float) -> Replay:
    why = RebalanceReason.OWN_OFFSETS if queue.span.is_broadcasting else queue.span.not_sampled
    return Replay(None, None, why) if why else replay_of(queue, commit_interval_seconds)


def _lapses(costs: Sequence[QueueCost]) -> dict[str, Any]:
    return {
        "unowned_queue_seconds": sum(one.queue.unowned.sampled for one in costs) / MICROSECONDS,
        "doubly_owned_queue_seconds": sum(one.queue.doubly_owned.sampled for one in costs) / MICROSECONDS,
        "doubly_owned_queues": sum(one.queue.was_doubly_owned for one in costs),
    }


def _reasons(values: Mapping[str, Any], whys: Mapping[str, str | None]) -> str:
    """A JSON object of the names that are null, each with why."""
    missing = {name: whys[name] for name in values if values[name] is None and whys[name] is not None}
    return json.dumps(missing, separators=(",", ":"))


def _lags(span: CostSpan, queues: Mapping[tuple[str, int], QueueHistory]) -> dict[str, int | None]:
    lags = topic_lags([one.offsets for one in queues.values() if one.offsets])
    before, peak = lag_before(lags, span.started_after_us), lag_peak(lags, span.started_before_us)
    return dict(zip(LAGS, (before, peak), strict=True))


class TopicLag(NamedTuple):
    """`lag`: null where that of a queue is unknown then, or where a queue has no reading though an earlier one, or
    where no queue has a lag."""

    at_us: int
    lag: int | None


def topic_lags(queues: Sequence[Sequence[OffsetReading]]) -> list[TopicLag]:
    """Of a topic, from the readings of each of its queues, oldest first."""
    by_time = [{one.at_us: one for one in reversed(queue)} for queue in queues]
    begins = [queue[0].at_us for queue in queues]
    found = []
    for at_us in sorted({at for queue in by_time for at in queue}):
        there = [queue.get(at_us) for queue, first in zip(by_time, begins, strict=True) if first <= at_us]
        # A queue that nobody ever committed on has no lag; one without a reading is not known to have none.
        lags = [_lag(one) for one in there if one is None or one.reason not in NO_LAG_REASONS]
        known = [lag for lag in lags if lag is not None]
        found.append(TopicLag(at_us, sum(known) if lags and len(known) == len(lags) else None))
    return found


def _lag(one: OffsetReading | None) -> int | None:
    if one is None or one.reason is not None or one.broker_offset is None or one.consumer_offset is None:
        return None
    return one.broker_offset - one.consumer_offset


def lag_before(lags: Sequence[TopicLag], started_after_us: int | None) -> int | None:
    """At the last reading before the rebalance."""
    earlier = [one.lag for one in lags if started_after_us is not None and one.at_us <= started_after_us]
    return earlier[-1] if earlier else None


def lag_peak(lags: Sequence[TopicLag], started_before_us: int) -> int | None:
    """The highest within; null where one is unknown."""
    within = [one.lag for one in lags if one.at_us >= started_before_us]
    return None if None in within else max((lag for lag in within if lag is not None), default=None)


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
    """One row per topic that members subscribe to, or of which they hold a queue or should."""
    times = SampledTimes(event["before_us"], event["after_us"], event["sampled_us"])
    bounds = (event["started_after_us"], event["started_before_us"], event["end_us"])
    span = CostSpan(*bounds, event["is_broadcasting"], times)
    # What a retry topic costs is what its queues replay: members hold it without a subscription of the group to it.
    named = {topic for topic in (*known.subscribed, *event["topics"]) if not topic.startswith(RETRY_PREFIX)}
    topics: dict[str, dict[tuple[str, int], QueueHistory]] = {topic: {} for topic in sorted(named)}
    for (topic, broker, queue_id), queue in _queues(span, known, earlier).items():
        topics.setdefault(topic, {})[broker, queue_id] = queue
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
    members = {
        at_us: {one.client_id: one.processes(at_us) for one in known.intervals if one.is_listed(at_us)}
        for at_us in times.all_us
    }
    places = {*answers, *offsets, *known.wanted, *earlier}
    may_hold = {one.client_id: one.may_hold for one in known.intervals if one.may_hold is not None}
    return {
        place: QueueHistory(
            span,
            _samples(answers.get(place, ()), known.wanted.get(place, ()), members),
            sorted(answers.get(place, ()), key=lambda one: one[:2]),
            offsets.get(place, ()),
            known.wanted.get(place, ()),
            earlier.get(place),
            may_hold,
        )
        for place in places
    }


def _samples(
    answers: Iterable[OwnerAnswer],
    wanted: Sequence[tuple[int | None, int | None]],
    members: Mapping[int, Mapping[str, int]],
) -> list[OwnerSample]:
    """At each time of `members`, who of those held the queue. `members`: by client id, how many processes have it: a
    broker asks one of them, and both compute the same share."""
    owners: dict[int, set[str]] = defaultdict(set)
    for one in answers:
        if one.client_id in members.get(one.at_us, {}):
            owners[one.at_us].add(one.client_id)
    return [
        OwnerSample(
            at_us,
            tuple(client for client in sorted(owners[at_us]) for _ in range(members[at_us][client])),
            any((since is None or since <= at_us) and (until is None or until > at_us) for since, until in wanted),
        )
        for at_us in members
    ]


def _answers(ownership: pa.Table, wanted: Collection[Group]) -> dict[Group, TimedRows]:
    rows = ownership.filter(pa.array(is_held(ownership) & bools(pc.is_null(ownership["error"]))))
    cached = ["cached_min", "cached_max", "cached_count"]
    names = ["client_id", "started_at", "commit_offset", *cached, "orderly"]
    return _timed(rows, wanted, names, OwnerAnswer)


def _offsets(readings: pa.Table, wanted: Collection[Group]) -> dict[Group, TimedRows]:
    rows = readings.filter(pc.not_equal(readings["kind"], "dlq"))
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
