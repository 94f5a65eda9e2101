"""The request for a reset, and who makes it. Nothing here is checked against a cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from consumers.models import ResetKind, ResetQueue


class ResetRefused(Exception):
    """str() is one sentence or more for the user: why, and what to do. Nothing was changed."""


@dataclass(frozen=True, order=True)
class QueueKey:
    topic: str
    broker: str
    queue_id: int

    @classmethod
    def of(cls, row: ResetQueue) -> "QueueKey":
        return cls(row.topic, row.broker, row.queue_id)

    @classmethod
    def told(cls, entry: Mapping[str, Any]) -> "QueueKey":
        """Of what names its fields, in JSON or in a row of the lake."""
        return cls(entry["topic"], entry["broker"], entry["queue_id"])

    def __str__(self) -> str:
        return f"{self.topic}/{self.broker}/{self.queue_id}"


@dataclass(frozen=True)
class Wish:
    """`value` is as `ResetKind` tells, in JSON's own types. None for topics, brokers and queues: all (see `Reset`)."""

    kind: ResetKind
    value: Any
    reason: str
    topics: tuple[str, ...] | None = None
    brokers: tuple[str, ...] | None = None
    queues: tuple[QueueKey, ...] | None = None
    clip: bool = False


@dataclass(frozen=True)
class Asker:
    """The person who requests an action. `user` is the site's user; `address` where the request came from."""

    user: Any
    address: str | None
    via: str  # page or rest
