"""Rows for tests of ownership: who was listed, who held what, and who subscribed to what, from when to when.

Times are seconds ago; `None` as the end means that it still holds.
"""

from typing import Any

from consumers.models import Assignment, Client, ClientSubscription, Cluster, ConsumerGroup, Queue, Reading
from tests.world import a_client, ago

NEWEST = 5


def readings_every(cluster: Cluster, seconds: float, since: float, until: float = NEWEST) -> None:
    """Whole readings from `since` to `until` seconds ago."""
    count = int((since - until) // seconds) + 1
    values: dict[str, Any] = {"complete": True, "queues": 4, "calls": 4, "bytes": 1900, "seconds": 0.41}
    Reading.objects.bulk_create(
        Reading(cluster=cluster, taken_at=ago(until + number * seconds), **values) for number in range(count)
    )


def a_member(group: ConsumerGroup, client_id: str, since: float, gone_by: float | None = None, **fields: Any) -> Client:
    """A client that was listed."""
    last = NEWEST if gone_by is None else gone_by + 15
    times = {"seen_since": ago(since), "last_seen": ago(last), "gone_by": None if gone_by is None else ago(gone_by)}
    return a_client(group, client_id, **(times | {"running_info_at": ago(last)} | fields))


def it_subscribed(
    group: ConsumerGroup,
    client_id: str,
    since: float,
    until: float = NEWEST,
    gone_by: float | None = None,
    *,
    topic: str = "Orders",
    expression: str = "*",
    expression_type: str | None = "TAG",
) -> ClientSubscription:
    times = {"seen_since": ago(since), "last_seen": ago(until), "gone_by": None if gone_by is None else ago(gone_by)}
    names = {"topic": topic, "expression": expression, "expression_type": expression_type}
    return ClientSubscription.objects.create(group=group, client_id=client_id, **names, **times)


def it_held(
    group: ConsumerGroup,
    queue: Queue,
    client_id: str,
    since: float,
    until: float = NEWEST,
    gone_by: float | None = None,
    **said: Any,
) -> Assignment:
    times = {"seen_since": ago(since), "last_seen": ago(until), "gone_by": None if gone_by is None else ago(gone_by)}
    return Assignment.objects.create(group=group, queue=queue, client_id=client_id, **times, **said)
