"""What to search RocketMQ's own logs for. The texts are those of RocketMQ 5.4.0.

Brokers: ConsumerGroupInfo and ConsumerManager, into broker.log. Members: RebalanceImpl, into rocketmq_client.log of
the member's own host.
"""

from collections.abc import Mapping
from typing import Any

from .rows import Cause, LogLine

OF_BROKERS = "broker.log"
OF_MEMBERS = "rocketmq_client.log"

TEXTS = {
    Cause.JOINED: (OF_BROKERS, "new consumer connected, group: {group} "),
    Cause.RECONNECTED: (OF_BROKERS, "new consumer connected, group: {group} "),
    Cause.RESTARTED: (OF_BROKERS, "new consumer connected, group: {group} "),
    Cause.LEFT: (OF_BROKERS, "unregister a consumer[{group}] from consumerGroupInfo"),
    # A closed socket; one that left in order has the line of LEFT instead.
    Cause.GONE: (OF_BROKERS, "from ConsumerGroupInfo groupChannelTable, consumer group: {group}"),
    Cause.SILENT: (OF_BROKERS, "SCAN: remove expired channel from ConsumerManager consumerTable"),
    Cause.SUBSCRIPTION: (OF_BROKERS, "subscription changed, "),
    Cause.QUEUE_COUNT: (OF_MEMBERS, "client rebalanced result changed"),
    Cause.STRATEGY: (OF_MEMBERS, "client rebalanced result changed"),
    Cause.UNKNOWN: (OF_MEMBERS, "client rebalanced result changed"),
    Cause.PULL_STUCK: (OF_MEMBERS, "[BUG]doRebalance, {group}, try remove unnecessary mq"),
}


def log_line(found: Mapping[str, Any], group: str) -> LogLine | None:
    """None for a cause that RocketMQ writes no line of."""
    cause = found.get("cause")
    if cause not in TEXTS:
        return None
    file, text = TEXTS[Cause(cause)]
    return LogLine(file, text.format(group=group))
