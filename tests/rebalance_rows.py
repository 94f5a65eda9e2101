"""Rebalances and repeats for tests, each with the least that it needs. Times are given, never read."""

from datetime import datetime, timedelta
from typing import Any

from consumers.models import Cluster, ConsumerGroup, PipelineRun, Reading, Rebalance, RebalanceTopic, RepeatEvent
from consumers.vocabulary.times import microseconds
from tests.world import ago, is_complete

OLD, NEW = "10.0.0.7@3312", "10.0.0.9@3312"
JOINED = {"cause": "joined", "client_id": "10.0.0.9@3312", "address": "10.0.0.9:41022"}


def a_rebalance(group: ConsumerGroup, at: datetime | None = None, **fields: Any) -> Rebalance:
    """One that began within the 15 s before `at` (ten minutes ago) and settled 15 s after it: a member joined."""
    at = at or ago(600)
    values: dict[str, Any] = {
        "started_after": at - timedelta(seconds=15),
        "started_before": at,
        "last_change_at": at,
        "settled_at": at + timedelta(seconds=15),
        "polls": 2,
        "cause": "joined",
        "evidence": [JOINED],
        "members_before": 2,
        "members_after": 3,
        "client_ids_before": ["10.0.0.7@3312", "10.0.0.8@3312"],
        "client_ids_after": ["10.0.0.7@3312", "10.0.0.8@3312", "10.0.0.9@3312"],
        "episode_since": at,
        "judged_at": at + timedelta(seconds=30),
    }
    return Rebalance.objects.create(group=group, **(values | fields))


def a_move(
    queue_id: int = 0, before: tuple[str, ...] = (OLD,), after: tuple[str, ...] = (NEW,), **fields: Any
) -> dict[str, Any]:
    values: dict[str, Any] = {
        "broker": "broker-a",
        "queue_id": queue_id,
        "before": list(before),
        "after": list(after),
        "unowned_seconds": 15.0,
        "unowned_seconds_low": 0.0,
        "unowned_seconds_high": 30.0,
        "doubly_owned_seconds": 0.0,
        "doubly_owned_seconds_low": 0.0,
        "doubly_owned_seconds_high": 0.0,
        "replayed_messages_low": 3,
        "replayed_messages": 11,
    }
    return values | fields


def a_moved_topic(rebalance: Rebalance, topic: str = "Orders", **fields: Any) -> RebalanceTopic:
    """Eight queues, of which the one in `moves` moved."""
    values: dict[str, Any] = {
        "queues": 8,
        "queues_moved": 1,
        "unowned_queue_seconds": 15.0,
        "doubly_owned_queue_seconds": 0.0,
        "doubly_owned_queues": 0,
        "replayed_messages_low": 3,
        "replayed_messages": 11,
        "lag_before_messages": 120,
        "lag_peak_messages": 480,
        "moves": [a_move()],
    }
    return RebalanceTopic.objects.create(rebalance=rebalance, topic=topic, **(values | fields))


def read_every(step: float, cluster: Cluster, seconds: float, until: float = 0, **fields: Any) -> None:
    """From so many seconds before now until so many, with both; in the place of the readings of that time."""
    Reading.objects.filter(cluster=cluster, taken_at__gte=ago(seconds), taken_at__lte=ago(until)).delete()
    values = {"complete": is_complete(fields), "queues": 4, "calls": 4, "bytes": 1900, "seconds": 0.41, **fields}
    times = [ago(seconds - number * step) for number in range(round((seconds - until) / step) + 1)]
    Reading.objects.bulk_create(Reading(cluster=cluster, taken_at=at, **values) for at in times)


def was_watched(cluster: Cluster, seconds: float) -> None:
    """It was read, and what was read was evaluated, for so many seconds up to now. Its newest readings stay."""
    read_every(60 if seconds > 7200 else 15, cluster, seconds, 60)
    PipelineRun.objects.create(since=ago(seconds), until=ago(25), started_at=ago(24), finished_at=ago(20))


def a_crash_loop(group: ConsumerGroup, seconds: float, every: float = 40, until: float = 0, **fields: Any) -> None:
    """A member that starts again and again for so long, and settles in between."""
    for number in range(int((seconds - until) / every)):
        at = seconds - number * every
        values: dict[str, Any] = {"last_change_at": ago(at - 15), "settled_at": ago(at - 15)}
        a_rebalance(group, ago(at), episode_since=ago(seconds), **(values | fields))


LEFT = {"code": "owner_left", "client_id": "10.0.0.7@3312"}
BEHIND = {"code": "start_behind_memory", "messages": 40}


def a_repeat(group: ConsumerGroup, at: datetime | None = None, **fields: Any) -> RepeatEvent:
    """A member crashed within the 15 s before `at` (ten minutes ago): 40 to 120 messages of one queue came again."""
    at = at or ago(600)
    values: dict[str, Any] = {
        "cause": "consumer_crash",
        "source": "rebalances",
        "confidence": "proven",
        "began_after": at - timedelta(seconds=15),
        "started_at": at,
        "last_at": at,
        "queue_count": 1,
        "redelivered_low": 40,
        "redelivered_high": 120,
        "evidence": [LEFT, BEHIND],
        "judged_at": at + timedelta(seconds=30),
    }
    values["parts"] = [a_part(at)]
    return RepeatEvent.objects.create(group=group, **(values | fields))


def a_repeat_of_unknown_queues(group: ConsumerGroup, at: datetime | None = None) -> RepeatEvent:
    """A member that never told what it held was lost within the 15 s before `at` (ten minutes ago)."""
    at = at or ago(600)
    nowhere = dict.fromkeys(("broker", "queue_id", "low", "high", "from_offset", "until_offset"))
    part = a_part(at, **nowhere, confidence="possible", unknown="owner_not_sampled")
    return a_repeat(
        group,
        at,
        confidence="possible",
        redelivered_low=None,
        redelivered_high=None,
        parts=[part],
        unknown=dict.fromkeys(("redelivered_low", "redelivered_high"), "owner_not_sampled"),
    )


def a_part(at: datetime, **fields: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "after_us": microseconds(at - timedelta(seconds=15)),
        "at_us": microseconds(at),
        "confidence": "proven",
        "topic": "Orders",
        "broker": "broker-a",
        "queue_id": 0,
        "low": 40,
        "high": 120,
        "from_offset": 900,
        "until_offset": 1020,
        "unknown": None,
        "evidence": [LEFT, BEHIND],
    }
    return values | fields
