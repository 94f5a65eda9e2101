"""Groups that rules are about, well, and unknown; a broker that is down, and a cluster that nobody reads."""

from dataclasses import replace
from datetime import datetime

from consumers.lake.store import Lake
from consumers.models import Assignment, Cluster, ConsumerGroup, GroupWindow, Queue
from consumers.polling.record.history import reading_rows, write_history
from tests.readings import broker, reading, row
from tests.rebalance_rows import a_rebalance, a_repeat, read_every, was_watched
from tests.world import (
    a_broker,
    a_client,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_reading,
    a_snapshot,
    a_total,
    ago,
)


def a_watched_world(lake: Lake) -> Cluster:
    cluster = a_cluster()
    a_broker(cluster, cluster_name="DefaultCluster", file_reserved_hours=4)
    a_dead_broker(cluster)
    was_watched(cluster, 7200)
    _stopped(cluster)
    _well(cluster)
    _shared(cluster)
    read_every(15, cluster, 1000, 70)
    a_total(a_group(cluster, "paused", members=0, online=False, consume_enable=False), 9)
    lost = a_group(cluster, "lost")
    a_snapshot(lost, a_queue(cluster, "Lost", broker="broker-b"), 1, 2)
    a_cluster("forgotten", read_at=ago(300))
    a_reading(cluster, ago(65))
    # 6 messages a minute come into each topic; of one all are consumed.
    _read(lake, ago(65), stopped=(60, 94), well=(94, 94))
    _read(lake, ago(5), stopped=(60, 100), well=(100, 100))
    return cluster


def _stopped(cluster: Cluster) -> None:
    group = a_group(cluster, "stopped", members=0, online=False)
    queue = a_queue(cluster, "Orders")
    a_snapshot(group, queue, 60, 100)
    a_total(group, 40, expired_messages=3, dlq_messages=7)
    a_judged_group(group, "STALL", time_lag_seconds=400.0, retry_share=0.5, worst_queue=queue)
    a_judged_queue(group, queue, "STALL", time_lag_seconds=400.0)
    _minute(group, into_dlq=1)
    for number in range(6):
        a_rebalance(group, ago(300 + 300 * number))
    a_repeat(group, ago(900))
    a_repeat(group, ago(300), confidence="possible", redelivered_low=2)


def _well(cluster: Cluster) -> None:
    group = a_group(cluster, "well")
    queue = a_queue(cluster, "Bills")
    a_snapshot(group, queue, 100, 100)
    a_total(group, 0, expired_messages=0)
    a_judged_group(group)
    a_judged_queue(group, queue)
    _minute(group, into_dlq=0)


def _shared(cluster: Cluster) -> None:
    """Two members hold the first queue, the one of them a message for long; nobody holds the others. Another one
    starts again and again."""
    group = a_group(cluster, "shared", settled_at=ago(60))
    a_rebalance(group, ago(900), last_change_at=ago(40), settled_at=None, polls=60)
    first, *others = (a_queue(cluster, "Shared", number) for number in range(3))
    for queue in (first, *others):
        Queue.objects.filter(pk=queue.pk).update(readable=True)
        a_snapshot(group, queue, 5, 5)
        a_judged_queue(group, queue)
    a_total(group, 0)
    a_judged_group(group)
    for number in (7, 8):
        client_id = f"10.0.0.{number}@3312"
        a_client(group, client_id, running_info_at=ago(20), subscriptions=[{"topic": "Shared", "expression": "*"}])
        head = {"head_since": ago(900), "cached_min": 5, "cached_max": 9, "cached_count": 5} if number == 7 else {}
        Assignment.objects.create(
            group=group, queue=first, client_id=client_id, seen_since=ago(3600), last_seen=ago(20), **head
        )


def _minute(group: ConsumerGroup, into_dlq: int) -> None:
    """Each of the last five that were judged."""
    volumes = {"into_retry": 0, "out_of_retry": 0, "into_dlq": into_dlq, "consumed": 6}
    for minutes in range(5):
        start = ago(120 + 60 * minutes)
        GroupWindow.objects.create(group=group, step_seconds=60, start=start, readings=4, **volumes)


def _read(lake: Lake, at: datetime, stopped: tuple[int, int], well: tuple[int, int]) -> None:
    rows = [row("stopped", "Orders", 0, *stopped), row("well", "Bills", 0, *well)]
    taken = replace(reading(0, broker("broker-a", *rows)), taken_at=at)
    write_history(lake, reading_rows(taken, None, {}), taken, None)
