"""A group whose messages fail, as polling, pipeline and looks would have recorded it. Times: before `NOW`."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from consumers.models import (
    Assignment,
    Broker,
    Client,
    ConsumerGroup,
    DeadLetter,
    DeadLetterLook,
    DelayLevel,
    GroupBroker,
    GroupTotal,
    GroupWindow,
    HeadMessage,
    PipelineRun,
    QueueSnapshot,
    Rung,
)
from tests.world import NOW, a_queue, a_snapshot, ago

MINUTE = timedelta(minutes=1)
LEVELS = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
SETTINGS = {"consumeTimeout": "15", "maxReconsumeTimes": "3", "consumeMessageBatchMaxSize": "1"}
FAILING = {"consume_ok_tps": 8.5, "consume_failed_tps": 0.9, "consume_failed_messages": 30, "consume_rt": 2.5}


def retries_work(group: ConsumerGroup, *, orderly: bool = False) -> None:
    """Every broker has said that it takes the group's retries, and every member how it is set."""
    brokers = Broker.objects.filter(cluster=group.cluster)
    brokers.update(
        permission=6, config_at=ago(5), routed_permission=6, routed_at=ago(5), delay_levels=LEVELS, delays_at=ago(5)
    )
    for broker in brokers:
        GroupBroker.objects.create(
            group=group, broker=broker.name, configured=True, consume_enable=True, broadcast_enable=True,
            orderly=False, retry_max_times=16, retry_queue_nums=1, retry_read_queues=1, consume_timeout_minutes=15,
            retry_permissions={f"%RETRY%{group.name}": 6}, dlq_permission=6, changed_at=ago(9000),
        )  # fmt: skip
    Client.objects.filter(group=group).update(settings=SETTINGS, running_info_at=ago(10), orderly=orderly)


def retries_are_due(group: ConsumerGroup) -> None:
    """On each broker seven that are not consumed yet."""
    for broker in Broker.objects.filter(cluster=group.cluster):
        queue = a_queue(group.cluster, f"%RETRY%{group.name}", 0, broker=broker.name, kind="retry")
        a_snapshot(group, queue, 500, 507, min_offset=1)


def levels_wait(group: ConsumerGroup, backlog: int = 40, *, late_seconds: float = 0) -> None:
    """On every broker `backlog` messages and one more for each level; 20 of them looked into, two of the group.

    The first of level n is due n seconds ahead, less `late_seconds`. Three more of the group lie in the timer wheel.
    """
    brokers = Broker.objects.filter(cluster=group.cluster)
    brokers.update(wheel={f"%RETRY%{group.name}": 3}, wheel_at=ago(20))
    places = [(broker.name, level) for broker in brokers for level in range(1, 19)]
    DelayLevel.objects.bulk_create(
        DelayLevel(
            cluster=group.cluster, broker=broker, level=level, delay_offset=100,
            broker_offset=100 + backlog + level, next_due_at=ago(late_seconds - level), read_at=ago(5),
            looked_at=20, sampled_of=backlog + level, sampled_at=ago(20),
        )
        for broker, level in places
    )  # fmt: skip
    Rung.objects.bulk_create(
        Rung(
            group=group, broker=broker, level=level, messages=2, attempts={"1": 1, "16": 1},
            oldest_stored_at=ago(70), next_due_at=ago(-level), sampled_at=ago(20),
        )
        for broker, level in places
    )  # fmt: skip


def volumes_flow(group: ConsumerGroup, unknown: Sequence[int] = (), reason: str = "broker-b was silent") -> None:
    """An hour of minutes, judged up to half a minute ago; those that began `unknown` minutes ago are not known."""
    PipelineRun.objects.create(
        since=ago(60), until=ago(30), started_at=ago(30), finished_at=ago(28), seconds=2.1, queues_judged=5,
        groups_judged=1,
    )  # fmt: skip
    volumes: dict[str, Any] = {"into_retry": 30, "out_of_retry": 28, "into_dlq": 4, "consumed": 600}
    told = {"readings": 4, **volumes, "volumes_unknown": {}}
    unknown_ones = {"readings": 4, **dict.fromkeys(volumes), "volumes_unknown": dict.fromkeys(volumes, reason)}
    # What else a window that is there tells stays.
    GroupWindow.objects.bulk_create(
        [
            GroupWindow(
                group=group,
                step_seconds=60,
                start=NOW - number * MINUTE,
                **(unknown_ones if number in unknown else told),
            )
            for number in range(1, 61)
        ],
        update_conflicts=True,
        update_fields=list(told),
        unique_fields=["group", "step_seconds", "start"],
    )


def a_queue_is_blocked(group: ConsumerGroup, *, orderly: bool = True, seconds: int = 720) -> Assignment:
    """The first queue of the group: its member has failed to finish the message at 900 for twelve minutes."""
    held = Assignment.objects.filter(group=group, gone_by=None).select_related("queue__topic").order_by("pk")[0]
    said = {"cached_min": 900, "cached_max": 909, "cached_count": 4, "commit_offset": 900, "head_since": ago(seconds)}
    times = {"last_pull_at": ago(11), "last_consume_at": ago(12), "last_lock_at": ago(13), "last_seen": ago(10)}
    for name, value in (said | times).items():
        setattr(held, name, value)
    held.save()
    QueueSnapshot.objects.filter(group=group, queue=held.queue).update(consumer_offset=900, broker_offset=1000)
    status = {held.queue.topic.name: FAILING}
    Client.objects.filter(group=group, client_id=held.client_id).update(
        orderly=orderly, consume_status=status, running_info_at=ago(10), last_seen=ago(10)
    )
    HeadMessage.objects.create(
        group=group, queue=held.queue, client_id=held.client_id, offset=900, since=ago(seconds), message_id="7F0001AB",
        keys="order-48211", tags="paid", reconsume_times=1, size=412, born_at=ago(900), stored_at=ago(899),
        asked_at=ago(15),
    )  # fmt: skip
    return held


def letters_lie(group: ConsumerGroup, count: int = 7) -> None:
    """All of them looked into; every second one was sent there by its application."""
    for number in range(count):
        DeadLetter.objects.create(
            group=group, broker="broker-a", queue_id=0, offset=10 + number, stored_id=f"7F00000100002A9F{number:016X}",
            message_id=f"AC11000{number}", origin_topic="Orders", origin_message_id=f"AC22000{number}",
            keys=f"order-{number}", tags="paid", reconsume_times=2 if number % 2 else 4, born_at=ago(900 + number),
            stored_at=ago(600 - number), size=412, sent_by_application=bool(number % 2), seen_at=ago(30),
        )  # fmt: skip
    DeadLetterLook.objects.create(
        group=group, broker="broker-a", queue_id=0, indexed_from=10, indexed_to=10 + count, min_offset=10,
        broker_offset=10 + count, looked_at=ago(30),
    )  # fmt: skip
    GroupTotal.objects.filter(group=group).update(dlq_messages=count)
