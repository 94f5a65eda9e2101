"""What a rebalance did to each topic: sums over its queues, null with a reason as soon as a part is unknown."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from consumers.pipeline.kernel.arrays.segments import MICROSECONDS
from consumers.vocabulary.unknown import NO_LAG_REASONS

from .queue_costs import Bounds, CostSpan, OffsetReading, QueueHistory, Replay, replay_of
from .tables import LAGS, LAPSES, LAPSES_OF_QUEUE, REPLAYED

NO_QUEUE = "no queue of the topic is known"
EVERY_MEMBER = "every member of a broadcasting group holds every queue"
OWN_OFFSETS = "members of a broadcasting group keep offsets of their own"
NOT_READ_BEFORE = "the lag before it was not known of every queue"
NOT_READ_WITHIN = "the lag was not known of every queue at some reading of it"


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
        whys = {**dict.fromkeys(LAPSES_OF_QUEUE, EVERY_MEMBER), **dict.fromkeys(REPLAYED, self.replay.why)}
        owners = {"before": self.queue.before, "after": self.queue.after}
        place = {"broker": self.broker, "queue_id": self.queue_id}
        return {**place, **owners, **values, "unknown": _reasons(values, whys)}


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
    not_sampled = span.not_sampled or (None if costs else NO_QUEUE)
    lapse_why = EVERY_MEMBER if span.is_broadcasting else not_sampled
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
        "queues": NO_QUEUE,
        "queues_moved": not_sampled,
        **dict.fromkeys(LAPSES, lapse_why),
        **dict.fromkeys(REPLAYED, replay_why or (OWN_OFFSETS if span.is_broadcasting else not_sampled)),
        **dict(zip(LAGS, (NOT_READ_BEFORE, NOT_READ_WITHIN), strict=True)),
    }
    moves = [one.move() for one in costs if one.is_worth_reporting]
    return {**values, "moves": moves, "unknown": _reasons(values, whys)}


def _replay(queue: QueueHistory, commit_interval_seconds: float) -> Replay:
    why = OWN_OFFSETS if queue.span.is_broadcasting else queue.span.not_sampled
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
