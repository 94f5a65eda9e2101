"""The states of queues and groups."""

from enum import StrEnum


class State(StrEnum):
    """Worst first."""

    LOSS = "LOSS"
    STOP = "STOP"
    STALL = "STALL"
    REWIND = "REWIND"
    WARN = "WARN"
    UNKNOWN = "UNKNOWN"
    RECREATED = "RECREATED"
    OK = "OK"
