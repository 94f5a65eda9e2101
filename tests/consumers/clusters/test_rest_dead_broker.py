"""The law, over every field of every resource: of a broker that died nothing is said, above all not zero."""

from typing import Any

import pytest
import time_machine

from consumers.models import Assignment, GroupWindow
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db
GROUP = "/api/v1/groups/prod/billing/"
# Names and counts of what is listed: known without the broker.
COUNTED = {"queue_id", "id", "count", "queues", "failed_readings", "missed_readings", "calls", "step_seconds"}


def facts(value: Any, name: str = "", beside: dict[str, Any] | None = None):
    """Every leaf of a document with its name and the object it stands in."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from facts(item, key, value)
    elif isinstance(value, list):
        for item in value:
            yield from facts(item, name, beside)
    else:
        yield name, value, beside or {}


@pytest.fixture
def documents(api):
    """All resources about a group that lives on the dead broker alone, in a cluster where another broker is well.

    Everything stored is zero and was once read: what is answered must come from the broker's silence.
    """
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster()
        a_broker(cluster)
        a_dead_broker(cluster, "broker-b")
        group = a_group(cluster, online=False, members=0)
        for topic, kind in (("Orders", "normal"), ("%RETRY%billing", "retry")):
            queue = a_queue(cluster, topic, broker="broker-b", kind=kind)
            a_snapshot(group, queue, 0, 0, pull_offset=0)
            a_judged_queue(group, queue)
            Assignment.objects.create(group=group, queue=queue, client_id="a", seen_since=ago(99), last_seen=ago(9))
        a_total(group, 0)
        a_judged_group(group, consume_rate=0.0, produce_rate=0.0, drain_seconds=0.0)
        GroupWindow.objects.create(group=group, step_seconds=60, start=ago(120), readings=0, unknown_reason="not_read")
        paths = ["/api/v1/groups/", GROUP, f"{GROUP}queues/", f"{GROUP}status/", f"{GROUP}history/"]
        yield {path: api.get(path).json() for path in paths}


def test_no_zero_is_said_that_was_not_read(documents):
    zeros = [
        (path, name)
        for path, document in documents.items()
        for name, value, _ in facts(document)
        if value == 0 and value is not False and name not in COUNTED | {"readings"}
    ]
    assert zeros == []


def test_no_false_is_said_that_was_not_read(documents):
    said = [
        (path, name)
        for path, document in documents.items()
        for name, value, _ in facts(document)
        # That a window was not aggregated, or a state is not of a late evaluation, is known of the pipeline.
        if value is False and name not in ("complete", "stale")
    ]
    assert said == []


def test_every_null_has_its_reason_beside_it(documents):
    without = [
        (path, name)
        for path, document in documents.items()
        if "history" not in path
        for name, value, beside in facts(document)
        if value is None
        and name not in ("next", "previous", "worst_queue")
        and not (name == "unknown_reason" and beside.get("lag_messages") is not None)
        and not (beside.get("unknown", {}).get(name) or (name == "lag_messages" and beside.get("unknown_reason")))
    ]
    assert without == []


def test_every_reason_names_the_broker(documents):
    for path in ("/api/v1/groups/", f"{GROUP}queues/"):
        for row in documents[path]["results"]:
            assert row["state"] == "UNKNOWN"
            assert row["unknown_reason"] == "broker-b could not be read: connection refused"
            assert row["taken_at"] == "2026-03-14T02:55:00Z"
