"""Rebalances written by hand: who held which queue at each sampled reading, what the clients and the brokers said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from consumers.pipeline.durations import Durations
from consumers.pipeline.rebalances.events import sampled_times
from consumers.pipeline.rebalances.find import topic_cost
from consumers.pipeline.rebalances.queue_costs import CostSpan, OffsetReading, OwnerAnswer, OwnerSample, QueueHistory
from tests.pipeline_rows import us


@dataclass
class Story:
    """One group's rebalance of Orders on broker-a, first seen at 15 s; `owners` names the sampled readings."""

    group: str
    owners: Mapping[int, Mapping[int, Sequence[str]]] = field(default_factory=dict)  # second: {queue id: client ids}
    said: Sequence["Said"] = ()
    offsets: Mapping[int, Sequence[tuple[int, int | None, int]]] = field(default_factory=dict)  # queue id: …
    wanted: Mapping[int, int | None] = field(default_factory=lambda: {0: None})  # queue id: since which second
    earlier: "Said | None" = None  # of queue 0, an answer long before
    started_after: int | None = 0
    end: int = 60
    broadcasting: bool = False
    may_hold: Mapping[str, int] = field(default_factory=dict)

    def topic(self) -> dict[str, Any]:
        """What the rebalance did to Orders."""
        queues = {queue_id for held in self.owners.values() for queue_id in held}
        queues |= {*self.wanted, *self.offsets, *(one.queue_id for one in self.said)}
        histories = {("broker-a", queue_id): self._queue(queue_id) for queue_id in queues}
        return topic_cost(self._span(), histories, Durations().commit_interval_seconds)

    def _span(self) -> CostSpan:
        after = None if self.started_after is None else us(self.started_after)
        times = sampled_times(after, us(15), us(self.end), [us(second) for second in self.owners])
        return CostSpan(after, us(15), us(self.end), self.broadcasting, times)

    def _queue(self, queue_id: int) -> QueueHistory:
        sampled = {us(second): tuple(held.get(queue_id, ())) for second, held in self.owners.items()}
        span, since = self._span(), self.wanted.get(queue_id)
        is_wanted = queue_id in self.wanted
        return QueueHistory(
            span,
            [
                OwnerSample(at_us, sampled[at_us], is_wanted and (since is None or us(since) <= at_us))
                for at_us in span.times.all_us
            ],
            [one.answer for one in self.said if one.queue_id == queue_id],
            [
                OffsetReading(us(second), consumer, broker, "never_committed" if consumer is None else None)
                for second, consumer, broker in self.offsets.get(queue_id, ())
            ],
            [(None if since is None else us(since), None)] if is_wanted else [],
            self.earlier.answer if self.earlier and queue_id == 0 else None,
            self.may_hold,
        )


@dataclass(frozen=True)
class Said:
    queue_id: int
    answer: OwnerAnswer


def says(
    second: int,
    client_id: str,
    commit: int | None,
    cached: tuple[int, int] | None = None,
    queue_id: int = 0,
    started: int = -600,
    count: int | None = None,
    is_orderly: bool = False,
) -> Said:
    """What a client says of a queue that it holds: its offset in memory, the first and last message it holds."""
    first, last = cached or (None, None)
    return Said(queue_id, OwnerAnswer(us(second), client_id, us(started), commit, first, last, count, is_orderly))
