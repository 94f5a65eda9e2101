"""Rows of a site that was read and judged a moment ago: many groups of one cluster, most of them well."""

from datetime import datetime, timedelta

import pyarrow as pa
from django.conf import settings
from django.db.models import Max

from consumers.lake.schemas import READINGS
from consumers.lake.store import Lake, file_name, hour_folder
from consumers.models import (
    Assignment,
    Broker,
    Client,
    Cluster,
    ConsumerGroup,
    GroupState,
    GroupTotal,
    GroupWindow,
    PipelineRun,
    Queue,
    QueueSnapshot,
    QueueState,
    Reading,
    Topic,
)

AT_ONCE = 5000
BROKERS = ("broker-a", "broker-b")
# Of a thousand groups so many are behind.
BEHIND = 20
MEMBERS = 2
SAID = {"consume_ok_tps": 20.5, "consume_failed_tps": 0.0, "consume_failed_messages": 0, "consume_rt": 3.5}


def fill(groups: int, queues: int, now: datetime) -> Cluster:
    """Each group has a topic of its own with `queues` queues, spread over two brokers."""
    cluster = Cluster.objects.create(name="bench", namesrv="127.0.0.1:9876", created_at=now)
    _readings(cluster, now)
    long_ago = now - timedelta(days=30)
    topics = [
        Topic(cluster=cluster, name=f"Topic{n:05d}", kind="normal", first_seen_at=long_ago) for n in range(groups)
    ]
    Topic.objects.bulk_create(topics, AT_ONCE)
    rows = [_group(cluster, number, long_ago, now) for number in range(groups)]
    ConsumerGroup.objects.bulk_create(rows, AT_ONCE)
    places = [
        Queue(topic=topic, broker=BROKERS[number % 2], queue_id=number // 2, readable=True, writable=True)
        for topic in topics
        for number in range(queues)
    ]
    Queue.objects.bulk_create(places, AT_ONCE)
    held = list(zip((row for row in rows for _ in range(queues)), places, strict=True))
    QueueSnapshot.objects.bulk_create([_snapshot(*one, now) for one in held], AT_ONCE)
    QueueState.objects.bulk_create([_queue_state(*one, now) for one in held], AT_ONCE)
    GroupTotal.objects.bulk_create([_total(row, queues, now) for row in rows], AT_ONCE)
    GroupState.objects.bulk_create([_state(row, now) for row in rows], AT_ONCE)
    minute = now.replace(second=0, microsecond=0)
    for ago in range(6, 0, -1):
        start = minute - timedelta(minutes=ago)
        GroupWindow.objects.bulk_create([_window(row, start) for row in rows], AT_ONCE)
    return cluster


def be_behind(cluster: Cluster, groups: int, seconds: float | None, now: datetime) -> None:
    """The first `groups` are so far behind, or are well again where `seconds` is None."""
    names = [f"group-{number:05d}" for number in range(groups)]
    found = GroupState.objects.filter(group__cluster=cluster, group__name__in=names)
    state = "OK" if seconds is None else "STALL"
    found.update(state=state, time_lag_seconds=seconds or 0.0, since=now, judged_at=now)
    lag = 0 if seconds is None else 500_000
    GroupTotal.objects.filter(group__in=found.values("group")).update(lag_messages=lag, lag_messages_at_least=lag)


def read_again(now: datetime) -> None:
    """As a reading and a run that found everything as it was."""
    Broker.objects.update(last_read_at=now)
    GroupState.objects.update(judged_at=now)
    newest = Reading.objects.aggregate(at=Max("taken_at"))["at"]
    Reading.objects.filter(taken_at=newest).update(taken_at=now)
    ConsumerGroup.objects.update(membership_at=now)
    Client.objects.update(last_seen=now, running_info_at=now)
    Assignment.objects.update(last_seen=now)
    PipelineRun.objects.update(since=now - timedelta(seconds=30), until=now, started_at=now, finished_at=now)


def fill_members(cluster: Cluster, now: datetime) -> None:
    """Members that have just spoken, with their queues, and two readings a minute apart in the lake."""
    Client.objects.bulk_create(
        [
            Client(
                group=group, client_id=f"10.0.0.{member}@{group.pk}", address=f"10.0.0.{member}:5000", language="JAVA",
                seen_since=now, last_seen=now, running_info_at=now, subscriptions=group.subscriptions,
                consume_status={group.subscriptions[0]["topic"]: SAID},
            )
            for group in ConsumerGroup.objects.all()
            for member in range(MEMBERS)
        ],
        AT_ONCE,
    )  # fmt: skip
    ConsumerGroup.objects.update(settled_at=now, members_changed_at=now - timedelta(hours=1))
    held = QueueSnapshot.objects.order_by("pk").values_list("group_id", "queue_id")
    Assignment.objects.bulk_create(
        [
            Assignment(
                group_id=group, queue_id=queue, client_id=f"10.0.0.{n % MEMBERS}@{group}", seen_since=now, last_seen=now
            )
            for n, (group, queue) in enumerate(held)
        ],
        AT_ONCE,
    )
    for at in (now, now - timedelta(seconds=60)):
        _write_reading(cluster.name, at)
    Reading.objects.create(
        cluster=cluster,
        taken_at=now - timedelta(seconds=60),
        complete=True,
        queues=1,
        calls=6,
        bytes=10**6,
        seconds=0.4,
    )


def _write_reading(cluster: str, at: datetime) -> None:
    names = (
        "group__name",
        "queue__topic__name",
        "queue__broker",
        "queue__queue_id",
        "consumer_offset",
        "broker_offset",
    )
    columns = zip(*QueueSnapshot.objects.order_by("group__name", "pk").values_list(*names), strict=True)
    table = pa.table(
        dict(zip(("group", "topic", "broker", "queue_id", "consumer_offset", "broker_offset"), columns, strict=True))
    )
    for name in READINGS.names:
        if name not in table.column_names:
            value = {"cluster": cluster, "taken_at": at, "kind": "normal", "min_offset": 500}.get(name)
            field = READINGS.field(name)
            table = table.append_column(name, pa.repeat(pa.scalar(value, field.type), table.num_rows))
    Lake.at(settings.CONSUMERSCOPE_LAKE).write(
        table, f"{hour_folder('readings', cluster, at)}/{file_name(at)}", READINGS
    )


def _readings(cluster: Cluster, now: datetime) -> None:
    for number, name in enumerate(BROKERS):
        address = f"127.0.0.1:{10911 + 10 * number}"
        Broker.objects.create(
            cluster=cluster, name=name, broker_id=0, address=address, version="V5_4_0", cluster_name="DefaultCluster",
            reachable=True, last_read_at=now,
        )  # fmt: skip
    brokers = [{"name": name, "read": True, "error": None} for name in BROKERS]
    Reading.objects.create(
        cluster=cluster, taken_at=now, complete=True, brokers=brokers, queues=1, calls=6, bytes=10**6, seconds=0.4
    )
    began = now - timedelta(seconds=30)
    PipelineRun.objects.create(since=began, until=now, started_at=now, finished_at=now, seconds=4.0)


def _group(cluster: Cluster, number: int, first_seen_at: datetime, now: datetime) -> ConsumerGroup:
    return ConsumerGroup(
        cluster=cluster, name=f"group-{number:05d}", kind="user", first_seen_at=first_seen_at, consume_enable=True,
        online=True, members=2, message_model="CLUSTERING", consume_type="CONSUME_PASSIVELY", membership_at=now,
        subscriptions=[{"topic": f"Topic{number:05d}", "expression": "*", "expression_type": "TAG"}], moved_at=now,
    )  # fmt: skip


def _is_behind(group: ConsumerGroup) -> bool:
    return int(group.name[-5:]) % 1000 < BEHIND


def _snapshot(group: ConsumerGroup, queue: Queue, now: datetime) -> QueueSnapshot:
    lag = 1000 if _is_behind(group) else 3
    return QueueSnapshot(
        group=group, queue=queue, consumer_offset=10**6, broker_offset=10**6 + lag, min_offset=500, changed_at=now
    )


def _queue_state(group: ConsumerGroup, queue: Queue, now: datetime) -> QueueState:
    lag = 90.0 if _is_behind(group) else 0.5
    return QueueState(
        group=group, queue=queue, state="OK", rule="keeping up", since=now, time_lag_seconds=lag,
        time_lag_kind="interpolated", time_lag_error_seconds=20, judged_at=now,
    )  # fmt: skip


def _total(group: ConsumerGroup, queues: int, now: datetime) -> GroupTotal:
    lag = queues * (1000 if _is_behind(group) else 3)
    return GroupTotal(
        group=group, queues=queues, unknown_queues=0, never_committed_queues=0, lag_messages=lag,
        lag_messages_at_least=lag, expired_messages=0, dlq_messages=0, changed_at=now,
    )  # fmt: skip


def _state(group: ConsumerGroup, now: datetime) -> GroupState:
    return GroupState(
        group=group, state="OK", rule="keeping up", since=now, completeness=1.0,
        time_lag_seconds=90.0 if _is_behind(group) else 0.5, time_lag_kind="interpolated", consume_rate=40.0,
        produce_rate=40.0, drain_seconds=2.0, retry_rate=0.1, retry_share=0.01, dlq_day_messages=2, judged_at=now,
    )  # fmt: skip


def _window(group: ConsumerGroup, start: datetime) -> GroupWindow:
    return GroupWindow(
        group=group, step_seconds=60, start=start, lag_messages=12, time_lag_seconds=0.5, consume_rate=40.0,
        produce_rate=40.0, readings=4, into_retry=1, out_of_retry=1, into_dlq=0, consumed=2400,
    )  # fmt: skip
