"""Rows for tests: a world made of small pieces, each with the least that it needs. Times are given, never read."""

from datetime import UTC, datetime, timedelta
from typing import Any

from consumers.models import (
    Broker,
    Client,
    Cluster,
    ConsumerGroup,
    GroupState,
    GroupTotal,
    Queue,
    QueueSnapshot,
    QueueState,
    Reading,
    Topic,
)
from consumers.vocabulary.times import microseconds

NOW = datetime(2026, 3, 14, 3, 0, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


SECONDS_AGO, MINUTES_AGO = ago(5), ago(300)


def a_cluster(name: str = "prod", *, read_at: datetime | None = SECONDS_AGO, **fields: Any) -> Cluster:
    """A cluster whose newest reading was at `read_at`; none at all when that is None."""
    values = {"namesrv": "127.0.0.1:9876", "created_at": ago(86400), "checked_at": ago(10), **fields}
    cluster = Cluster.objects.create(name=name, **values)
    if read_at is not None:
        a_reading(cluster, read_at)
    return cluster


def a_reading(cluster: Cluster, taken_at: datetime, **fields: Any) -> Reading:
    values = {"complete": is_complete(fields), "queues": 4, "calls": 4, "bytes": 1900, "seconds": 0.41, **fields}
    return Reading.objects.create(cluster=cluster, taken_at=taken_at, **values)


def is_complete(fields: dict[str, Any]) -> bool:
    """As the poll has it of a reading with these columns."""
    return fields.get("error") is None and all(one.get("read", True) for one in fields.get("brokers", ()))


def a_broker(cluster: Cluster, name: str = "broker-a", **fields: Any) -> Broker:
    values = {"broker_id": 0, "address": "127.0.0.1:10911", "version": "V5_4_0", "reachable": True}
    return Broker.objects.create(cluster=cluster, name=name, **(values | {"last_read_at": ago(5)} | fields))


def a_dead_broker(cluster: Cluster, name: str = "broker-b", *, since: datetime = MINUTES_AGO) -> Broker:
    return a_broker(cluster, name, reachable=False, last_read_at=since, failing_since=since, error="connection refused")


def a_group(cluster: Cluster, name: str = "billing", **fields: Any) -> ConsumerGroup:
    values = {"kind": "user", "first_seen_at": ago(86400), "online": True, "members": 2, "consume_enable": True}
    values |= {"message_model": "CLUSTERING", "consume_type": "CONSUME_PASSIVELY", "membership_at": ago(20)}
    return ConsumerGroup.objects.create(cluster=cluster, name=name, **(values | fields))


def a_client(group: ConsumerGroup, client_id: str = "10.0.0.7@3312", **fields: Any) -> Client:
    values = {"address": "10.0.0.7:50001", "language": "JAVA", "seen_since": ago(3600), "last_seen": ago(20)}
    return Client.objects.create(group=group, client_id=client_id, **(values | fields))


def a_total(group: ConsumerGroup, lag_messages: int | None, **fields: Any) -> GroupTotal:
    values: dict[str, Any] = {"queues": 4, "unknown_queues": 0, "never_committed_queues": 0, "dlq_messages": 0}
    values |= {"lag_messages": lag_messages, "lag_messages_at_least": lag_messages, "changed_at": ago(5)}
    return GroupTotal.objects.create(group=group, **(values | fields))


def a_judged_group(group: ConsumerGroup, state: str = "OK", **fields: Any) -> GroupState:
    values: dict[str, Any] = {"rule": "lagging", "since": ago(600), "completeness": 1.0, "judged_at": ago(20)}
    values |= {"time_lag_seconds": 0.0, "time_lag_kind": "exact", "consume_rate": 12.0, "produce_rate": 12.0}
    values |= {"retry_rate": 0.0, "retry_share": 0.0, "dlq_day_messages": 0}
    return GroupState.objects.create(group=group, state=state, **(values | fields))


def a_queue(
    cluster: Cluster, topic: str = "Orders", queue_id: int = 0, *, broker: str = "broker-a", kind: str = "normal"
) -> Queue:
    row, _ = Topic.objects.get_or_create(
        cluster=cluster, name=topic, defaults={"kind": kind, "first_seen_at": ago(86400)}
    )
    return Queue.objects.get_or_create(topic=row, broker=broker, queue_id=queue_id)[0]


def a_snapshot(
    group: ConsumerGroup, queue: Queue, consumer: int | None, broker: int | None, **fields: Any
) -> QueueSnapshot:
    values: dict[str, Any] = {"consumer_offset": consumer, "broker_offset": broker, "min_offset": 0}
    return QueueSnapshot.objects.create(group=group, queue=queue, **(values | {"changed_at": ago(5)} | fields))


def stored_us(seconds: float) -> int:
    return microseconds(ago(seconds))


def first_stored(seconds: float) -> dict[str, int]:
    """What polls tell of a queue's first unconsumed message that was stored so long ago."""
    return {"first_stored_us": stored_us(seconds), "first_stored_error_us": 20_000_000}


def a_judged_queue(group: ConsumerGroup, queue: Queue, state: str = "OK", **fields: Any) -> QueueState:
    values: dict[str, Any] = {"rule": "lagging", "since": ago(600), "judged_at": ago(20)}
    values |= {"time_lag_seconds": 0.0, "time_lag_kind": "exact", "time_lag_error_seconds": 0.0}
    return QueueState.objects.create(group=group, queue=queue, state=state, **(values | fields))
