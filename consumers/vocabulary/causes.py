"""Why a group rebalanced."""

from enum import StrEnum


class RebalanceCause(StrEnum):
    """`Rebalance.cause` is one of these, or several with ", " between; first the one to be named first."""

    JOINED = "joined"
    LEFT = "left"
    GONE = "gone"
    SILENT = "silent"
    RECONNECTED = "reconnected"
    RESTARTED = "restarted"
    QUEUE_COUNT = "queue_count"
    SUBSCRIPTION = "subscription"
    STRATEGY = "strategy"
    BROKER = "broker"
    PULL_STUCK = "pull_stuck"
    UNKNOWN = "unknown"
