"""Groups of every kind for the browser to look at, beside the shop's."""

from typing import Any

from consumers.models import Cluster, ConsumerGroup
from tests.world import a_client, a_group, a_judged_group, a_queue, a_snapshot, a_total, ago

DAY = 86_400
WEEK = {f"2026-03-{day:02}": [5_000, 3_900] for day in range(7, 15)}
OFFLINE: dict[str, Any] = {"online": False, "members": 0, "first_seen_at": ago(40 * DAY)}


def seed_kinds(cluster: Cluster) -> None:
    _group(cluster, "campaign-2024", 88_410, "inactive", **OFFLINE, offline_since=ago(9 * DAY))
    _group(cluster, "payout", 5_120, "paused", consume_enable=False)
    _group(
        cluster, "nightly-report", 41_200, "offline_by_habit", **OFFLINE, offline_since=ago(5 * 3_600), presence=WEEK
    )
    board = _group(cluster, "price-board", 12, "caught_up", message_model="BROADCASTING")
    board.subscriptions = [{"topic": "Prices", "expression": "EUR || USD", "expression_type": "TAG"}]
    board.save()
    _group(cluster, "ledger-export", None, "progress_outside", state="UNKNOWN",
           outside_store="com.shop.RedisOffsetStore")  # fmt: skip
    mobile = _group(cluster, "mobile-push", 0, "popped_to_end")
    a_client(mobile, pop_queues=[{"wait_ack_count": 31}])
    moved = _group(cluster, "crm-import", 3, "within_threshold", unsubscribed={"Legacy": ago(3 * DAY).isoformat()})
    for number in (0, 1):
        a_snapshot(moved, a_queue(cluster, "Legacy", number), 0, 70_000)
    _group(cluster, "CID_RMQ_SYS_TRANS", 9, "caught_up", kind="system")


def _group(cluster: Cluster, name: str, lag: int | None, rule: str, state: str = "OK", **fields: Any) -> ConsumerGroup:
    group = a_group(cluster, name, **fields)
    queue = a_queue(cluster, f"{name}-topic")
    a_snapshot(group, queue, 0, lag or 0)
    reason = "com.shop.RedisOffsetStore stores its offsets, not the brokers" if lag is None else None
    a_total(group, lag, expired_messages=None if lag is None else 0, unknown_reason=reason)
    a_judged_group(
        group, state, rule=rule, detail={"lag_messages": lag, "unacked_messages": 31 if "acks" in rule else None}
    )
    return group
