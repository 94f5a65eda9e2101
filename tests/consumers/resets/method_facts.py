"""Facts of a group that could be reset in any way: what a test is about, it says."""

from datetime import UTC, datetime
from typing import Any

from consumers.resets.planning.queue_plan import BrokerSetup, GroupSetup, QueueOffsets
from consumers.resets.target_values import QueueKey

AT = datetime(2026, 11, 1, 12, tzinfo=UTC)
MEMBERS = ("192.0.2.1@7", "192.0.2.2@7")


def key(queue_id: int = 0, topic: str = "orders", broker: str = "broker-a") -> QueueKey:
    return QueueKey(topic, broker, queue_id)


def queue_facts(at: QueueKey | None = None, **told: Any) -> QueueOffsets:
    return QueueOffsets(**{"key": at or key(), "min_offset": 10, "max_offset": 100, "now_offset": 50} | told)


def broker_facts(**told: Any) -> BrokerSetup:
    return BrokerSetup(**{"name": "broker-a", "version": "V5_4_0", "server_side": True, "permission": 6} | told)


def group_facts(*, broker: BrokerSetup | None = None, **told: Any) -> GroupSetup:
    """A group of push consumers in Java with two members."""
    facts: dict[str, Any] = {
        "taken_at": AT,
        "members": MEMBERS,
        "members_error": None,
        "message_model": "CLUSTERING",
        "consume_type": "CONSUME_PASSIVELY",
        "orderly": False,
        "languages": ("JAVA",),
        "pop_topics": frozenset(),
        "brokers": {"broker-a": broker or broker_facts()},
        "queues": {},
    }
    return GroupSetup(**facts | told)


def offline(**told: Any) -> GroupSetup:
    return group_facts(
        **{"members": (), "message_model": None, "consume_type": None, "orderly": None, "languages": ()} | told
    )
