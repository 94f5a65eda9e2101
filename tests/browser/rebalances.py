"""Rebalances of the shop's groups for the browser to look at: one of every kind, and one of a thousand queues."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max

from consumers.models import Assignment, Cluster, ConsumerGroup, GroupState, Queue, Rebalance, Topic
from consumers.vocabulary.reasons import RebalanceReason
from tests.rebalance_rows import a_move, a_moved_topic, a_rebalance
from tests.world import ago

IDS = [f"10.0.0.{7 + number}@3312" for number in range(60)]


def seed_rebalances(cluster: Cluster) -> None:
    _join(_group(cluster, "search-index"))
    _crash(_group(cluster, "inventory"))
    _queue_count(_group(cluster, "billing"))
    _rollout(_group(cluster, "checkout"))
    for number in range(8):
        _join(_group(cluster, "sms"), ago(200 + 400 * number))
    _unsampled(_group(cluster, "newcomer"))
    _thousand(_group(cluster, "warehouse-picking"))
    for row in Rebalance.objects.order_by().values("group").annotate(newest=Max("started_before")):
        GroupState.objects.filter(group=row["group"]).update(last_rebalance_at=row["newest"])


def _group(cluster: Cluster, name: str) -> ConsumerGroup:
    return ConsumerGroup.objects.get(cluster=cluster, name=name)


def _join(group: ConsumerGroup, at: datetime | None = None) -> None:
    a_moved_topic(a_rebalance(group, at or ago(1450)), "Catalogue", queues=4)


def _crash(group: ConsumerGroup) -> None:
    gone = {"cause": "gone", "client_id": IDS[1], "address": "10.0.0.8:41022", "last_seen": ago(755).isoformat()}
    row = a_rebalance(
        group, ago(740), cause="gone", evidence=[gone | {"at": ago(740).isoformat()}], members_before=3,
        members_after=2, client_ids_before=IDS[:3], client_ids_after=[IDS[0], IDS[2]], settled_at=ago(665), polls=6,
    )  # fmt: skip
    lost = {"unowned_seconds": 60.0, "unowned_seconds_low": 45.0, "unowned_seconds_high": 75.0}
    lost |= {"replayed_messages_low": 0, "replayed_messages": 412}
    moves = [a_move(1, (IDS[1],), (IDS[2],), **lost), a_move(3, (IDS[1],), (), **lost)]
    a_moved_topic(
        row, "Stock", queues=4, queues_moved=2, unowned_queue_seconds=120.0, replayed_messages_low=0,
        replayed_messages=824, lag_before_messages=2_310, lag_peak_messages=9_120, moves=moves,
    )  # fmt: skip


def _queue_count(group: ConsumerGroup) -> None:
    grown = {"cause": "queue_count", "topic": "Orders", "before": 4, "after": 8}
    row = a_rebalance(group, ago(2_500), cause="queue_count", evidence=[grown], members_before=3, members_after=3,
                      client_ids_before=IDS[:3], client_ids_after=IDS[:3], dated_at=ago(2_507))  # fmt: skip
    moves = [a_move(number, (), (IDS[number % 3],), unowned_seconds=30.0, replayed_messages_low=0, replayed_messages=0)
             for number in range(4, 8)]  # fmt: skip
    a_moved_topic(row, queues=8, queues_moved=4, unowned_queue_seconds=120.0, moves=moves, replayed_messages_low=0,
                  replayed_messages=0)  # fmt: skip


def _rollout(group: ConsumerGroup) -> None:
    """Three members one after the other."""
    for number in range(3):
        at = ago(1_900 - 40 * number)
        again = {"cause": "restarted", "client_id": IDS[number], "before": ago(90_000).isoformat(),
                 "after": (at - timedelta(seconds=9)).isoformat()}  # fmt: skip
        row = a_rebalance(group, at, cause="restarted", evidence=[again], members_before=3, members_after=3,
                          client_ids_before=IDS[:3], client_ids_after=IDS[:3], rollout=number == 2,
                          episode_since=ago(1_900))  # fmt: skip
        moves = [a_move(number, (IDS[number],), (IDS[number],), doubly_owned_seconds=15.0)]
        a_moved_topic(row, queues=4, queues_moved=0, moves=moves, unowned_queue_seconds=15.0, doubly_owned_queues=1,
                      doubly_owned_queue_seconds=15.0)  # fmt: skip


def _unsampled(group: ConsumerGroup) -> None:
    nothing: dict[str, Any] = dict.fromkeys(("members_before", "client_ids_before", "settled_at", "started_after"))
    row = a_rebalance(group, ago(95), cause="unknown", evidence=[{"cause": "unknown"}], **nothing)
    sampled = RebalanceReason.OWNERS_BEFORE.value
    numbers = ("queues_moved", "unowned_queue_seconds", "doubly_owned_queue_seconds", "doubly_owned_queues",
               "replayed_messages_low", "replayed_messages", "lag_before_messages")  # fmt: skip
    a_moved_topic(row, moves=[], **dict.fromkeys(numbers), unknown=dict.fromkeys(numbers, sampled))


def _thousand(group: ConsumerGroup) -> None:
    """Sixty members, of which the last has just come: as RocketMQ's averaging strategy shares a thousand queues."""
    topic = Topic.objects.create(cluster=group.cluster, name="Picks", kind="normal", first_seen_at=ago(90_000))
    Queue.objects.bulk_create(
        Queue(topic=topic, broker=f"broker-{n // 250 + 1:02}", queue_id=n % 250) for n in range(1000)
    )
    queues = list(Queue.objects.filter(topic=topic).order_by("broker", "queue_id"))
    ids = sorted(IDS)
    before, after = _shared(ids[:-1], 1000), _shared(ids, 1000)
    Assignment.objects.bulk_create(
        Assignment(group=group, queue=queue, client_id=owner, seen_since=ago(5_000), last_seen=ago(10))
        for queue, owner in zip(queues, after, strict=True)
    )
    moves = [
        {**a_move(queue.queue_id, (old,), (new,)), "broker": queue.broker}
        for queue, old, new in zip(queues, before, after, strict=True)
        if old != new
    ]
    row = a_rebalance(group, ago(3_000), members_before=59, members_after=60, client_ids_before=ids[:-1],
                      client_ids_after=ids)  # fmt: skip
    a_moved_topic(row, "Picks", queues=1000, queues_moved=len(moves), moves=moves, replayed_messages_low=900,
                  replayed_messages=7_200, unowned_queue_seconds=15.0 * len(moves))  # fmt: skip


def _shared(ids: Sequence[str], queues: int) -> list[str]:
    share, more = divmod(queues, len(ids))
    return [owner for number, owner in enumerate(ids) for _queue in range(share + (number < more))]
