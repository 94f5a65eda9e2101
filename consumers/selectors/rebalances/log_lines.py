"""What to search RocketMQ's own logs for. The texts are those of RocketMQ 5.4.0.

Brokers: ConsumerGroupInfo and ConsumerManager, into broker.log. Members: RebalanceImpl, into rocketmq_client.log of
the member's own host.
"""

from collections.abc import Mapping
from typing import Any

from consumers.vocabulary.causes import RebalanceCause

from .rows import LogLine

OF_BROKERS = "broker.log"
OF_MEMBERS = "rocketmq_client.log"

TEXTS = {
    RebalanceCause.JOINED: (OF_BROKERS, "new consumer connected, group: {group} "),
    RebalanceCause.RECONNECTED: (OF_BROKERS, "new consumer connected, group: {group} "),
    RebalanceCause.RESTARTED: (OF_BROKERS, "new consumer connected, group: {group} "),
    RebalanceCause.LEFT: (OF_BROKERS, "unregister a consumer[{group}] from consumerGroupInfo"),
    # A closed socket; one that left in order has the line of LEFT instead.
    RebalanceCause.GONE: (OF_BROKERS, "from ConsumerGroupInfo groupChannelTable, consumer group: {group}"),
    RebalanceCause.SILENT: (OF_BROKERS, "SCAN: remove expired channel from ConsumerManager consumerTable"),
    RebalanceCause.SUBSCRIPTION: (OF_BROKERS, "subscription changed, "),
    RebalanceCause.QUEUE_COUNT: (OF_MEMBERS, "client rebalanced result changed"),
    RebalanceCause.STRATEGY: (OF_MEMBERS, "client rebalanced result changed"),
    RebalanceCause.UNKNOWN: (OF_MEMBERS, "client rebalanced result changed"),
    RebalanceCause.PULL_STUCK: (OF_MEMBERS, "[BUG]doRebalance, {group}, try remove unnecessary mq"),
}


def log_line(found: Mapping[str, Any], group: str) -> LogLine | None:
    """None for a cause that RocketMQ writes no line of."""
    cause = found.get("cause")
    if cause not in TEXTS:
        return None
    file, text = TEXTS[RebalanceCause(cause)]
    return LogLine(file, text.format(group=group))
