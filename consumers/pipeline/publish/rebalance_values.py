"""Columns of events and of their topics, as Spark gives them, as the fields of rows; every null with its reason."""

import json
from datetime import datetime, timedelta
from typing import Any

from consumers.models import RebalanceTopic
from consumers.pipeline.slices import EPOCH

# Fields of a rebalance that may be null, and what is said where nothing else is.
NO_REASON_GIVEN = {
    "started_after": "no reading of the group in the time before it is known",
    "settled_at": "no two whole readings in a row agree since its last change",
    "dated_at": "no member's own clock tells of a change between the two readings",
    "members_before": "who was in the group before was not sampled",
    "members_after": "who is in the group after it was not sampled",
    "client_ids_before": "who was in the group before was not sampled",
    "client_ids_after": "who is in the group after it was not sampled",
}
MOMENTS = {
    "started_after": "started_after_us",
    "last_change_at": "last_change_us",
    "settled_at": "settled_us",
    "dated_at": "dated_us",
    "episode_since": "episode_us",
}
COPIED = ["polls", "cause", "rollout", "members_before", "members_after", "client_ids_before", "client_ids_after"]
EVENT_FIELDS = [*MOMENTS, *COPIED, "evidence", "unknown"]
TOPIC_FIELDS = [*RebalanceTopic.NUMBERS, "moves", "unknown"]


def moment(us: int) -> datetime:
    return EPOCH + timedelta(microseconds=us)


def event_values(one: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {
        field: None if one[name] is None else moment(one[name]) for field, name in MOMENTS.items()
    }
    values |= {name: one[name] for name in COPIED}
    values["evidence"] = json.loads(one["evidence"])
    reasons = {**NO_REASON_GIVEN, **dict(one.get("unknown") or {})}
    values["unknown"] = {name: reasons[name] for name in NO_REASON_GIVEN if values[name] is None}
    return values


def topic_values(one: dict[str, Any]) -> dict[str, Any]:
    """`unknown` is a JSON object of field and reason, of the topic and of each move."""
    values = {name: one[name] for name in RebalanceTopic.NUMBERS}
    values["moves"] = [{**move, "unknown": json.loads(move["unknown"])} for move in one["moves"] or []]
    values["unknown"] = json.loads(one["unknown"])
    return values
