"""Scripts and alert rules hold on to these names: more may come, none goes."""

from functools import cache
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

UNDER = "groups/{cluster}/{group}/"
GROUP = (
    "cluster group kind state state_detail flags completeness lag_messages lag_messages_at_least "
    "never_committed_queues time_lag_seconds time_lag_kind consume_rate produce_rate drain_seconds members online "
    "message_model consume_type retry_rate dlq_messages taken_at judged_at unknown_reason unknown"
)
REBALANCE = (
    "event group topic started_after started_before settled_at cause evidence members_before members_after "
    "queues_moved unowned_queue_seconds doubly_owned_queues replayed_messages replayed_messages_low polls"
)
REPEAT = (
    "id cluster group began_after began_before queues redelivered_low redelivered_high cause confidence evidence "
    "prevented_by"
)
FINDING = "code params text severity cluster group topic broker client_id since evidence"
# By path, then by the members that lead to what has the names.
PROMISED = {
    "clusters/": "name namesrv brokers last_reading",
    "clusters/ brokers": "name id address version reachable last_read_at error",
    "clusters/ last_reading": "taken_at complete calls bytes seconds queues",
    "groups/": GROUP,
    UNDER: f"{GROUP} topics subscriptions",
    f"{UNDER}queues/": "topic broker queue_id kind min_offset broker_offset pull_offset consumer_offset lag_messages "
    "in_flight ready expired_messages time_lag_seconds time_lag_kind time_lag_error_seconds state rule owner "
    "expected_owner taken_at judged_at unknown_reason unknown",
    f"{UNDER}history/": "from to step_seconds series",
    f"{UNDER}history/ series": "topic broker queue_id points",
    f"{UNDER}history/ series points": "at lag_messages time_lag_seconds consume_rate produce_rate readings "
    "unknown_reason",
    f"{UNDER}status/": "state since completeness lag_messages time_lag_seconds worst_queue taken_at judged_at",
    f"{UNDER}status/ worst_queue": "topic broker queue_id state rule",
    f"{UNDER}members/": "client_id address language version online_since seen_at subscription strategy consume_type "
    "message_model queues messages_per_second unknown",
    f"{UNDER}assignments/": "topic broker queue_id owner seen_since last_seen gone_by expected_owner",
    f"{UNDER}offsets/": "stores exposure would_start_at",
    f"{UNDER}offsets/ stores": "kind offset at source finding",
    f"{UNDER}offsets/ exposure": "low high finished_out_of_order",
    "rebalances/": REBALANCE,
    f"{UNDER}rebalances/": REBALANCE,
    f"{UNDER}retries/": "totals windows ladder blocked conditions",
    f"{UNDER}retries/ totals": "into_retry out_of_retry into_dlq",
    f"{UNDER}retries/ windows": "from to into_retry out_of_retry into_dlq consumed",
    f"{UNDER}retries/ ladder": "level delay_seconds broker_backlog sampled",
    f"{UNDER}retries/ blocked": "topic broker queue_id offset kind since member evidence",
    f"{UNDER}retries/ conditions": "name ok detail cure",
    f"{UNDER}dlq/": "broker queue_id offset message_id origin_topic keys tags reconsume_times born_at stored_at size "
    "sent_by_application resent",
    f"{UNDER}dlq/ resent": "at by result",
    "resets/{reset}/": "id status expires_at warnings queues",
    "resets/{reset}/ queues": "topic broker queue_id now target replayed_messages skipped_messages clipped restorable "
    "method before after outcome",
    "repeats/": REPEAT,
    "repeats/ queues": "topic broker queue_id from_offset to_offset",
    f"{UNDER}repeats/": REPEAT,
    "findings/": FINDING,
    f"{UNDER}findings/": FINDING,
    f"{UNDER}messages/{{message}}/attempts/": "attempts",
    f"{UNDER}messages/{{message}}/attempts/ attempts": "at topic broker queue_id offset reconsume_times owner repeat",
}


@pytest.mark.parametrize("place", PROMISED)
def test_an_answer_keeps_its_names(place):
    path, *members = place.split(" ")
    missing = set(PROMISED[place].split()) - set(_members(path, members))
    assert not missing


@cache
def _schema() -> Any:
    return SchemaGenerator().get_schema(request=None, public=True)


def _members(path: str, members: list[str]) -> dict[str, Any]:
    answer = _schema()["paths"][f"/api/v1/{path}"]["get"]["responses"]["200"]["content"]["application/json"]
    shape = _resolved(answer["schema"])
    if "results" in shape["properties"]:
        shape = _resolved(shape["properties"]["results"])
    for member in members:
        shape = _resolved(shape["properties"][member])
    found: dict[str, Any] = shape["properties"]
    return found


def _resolved(shape: dict[str, Any]) -> dict[str, Any]:
    """What it refers to; of a list, one of its rows."""
    while "properties" not in shape:
        if "$ref" in shape:
            shape = _schema()["components"]["schemas"][shape["$ref"].rpartition("/")[2]]
        elif "items" in shape:
            shape = shape["items"]
        else:
            [shape] = shape.get("allOf") or shape["oneOf"][:1]
    return shape
