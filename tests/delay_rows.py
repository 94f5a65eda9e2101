"""Rows of delay levels and of what was seen to wait there, each with the least that it needs."""

from typing import Any

from consumers.models import Broker, Cluster, ConsumerGroup, DelayLevel, Rung
from tests.world import a_broker, ago

DELAYS = "1s 5s 10s 30s"


def a_delaying_broker(cluster: Cluster, name: str = "broker-a", **fields: Any) -> Broker:
    """A broker that was read whole a moment ago, its delay levels and its timer wheel too."""
    values: dict[str, Any] = {"delay_levels": DELAYS, "delays_at": ago(5), "wheel": {}, "wheel_at": ago(5)}
    return a_broker(cluster, name, **(values | fields))


def a_level(cluster: Cluster, level: int, waiting: int = 0, *, broker: str = "broker-a", **fields: Any) -> DelayLevel:
    """A level of which all was looked into a moment ago; what waits is due in `due_in` seconds."""
    values: dict[str, Any] = {"delay_offset": 100, "broker_offset": 100 + waiting, "read_at": ago(5)}
    values |= {"looked_at": waiting, "sampled_of": waiting, "sampled_at": ago(5)}
    values |= {"next_due_at": ago(-fields.pop("due_in", 20)) if waiting else None}
    return DelayLevel.objects.create(cluster=cluster, broker=broker, level=level, **(values | fields))


def levels(cluster: Cluster, *, broker: str = "broker-a", **waiting: int) -> None:
    """All four levels of a broker: `level3=5` has five messages waiting, others none."""
    for level in range(1, 5):
        a_level(cluster, level, waiting.get(f"level{level}", 0), broker=broker)


def a_rung(group: ConsumerGroup, level: int, messages: int, *, broker: str = "broker-a", **fields: Any) -> Rung:
    values: dict[str, Any] = {"attempts": {str(level - 2): messages}, "oldest_stored_at": ago(8)}
    values |= {"next_due_at": ago(-2), "sampled_at": ago(5)}
    return Rung.objects.create(group=group, broker=broker, level=level, messages=messages, **(values | fields))
