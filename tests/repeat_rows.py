"""Repeats for tests, each with the least that it needs. Times are given, never read."""

from datetime import datetime, timedelta
from typing import Any

from consumers.models import ConsumerGroup, RepeatEvent
from consumers.pipeline.slices import microseconds
from tests.world import ago

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
        "queues": 1,
        "messages_low": 40,
        "messages_high": 120,
        "evidence": [LEFT, BEHIND],
        "judged_at": at + timedelta(seconds=30),
    }
    values["parts"] = [a_part(at)]
    return RepeatEvent.objects.create(group=group, **(values | fields))


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
