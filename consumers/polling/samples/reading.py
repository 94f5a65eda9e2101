"""What is asked of single queues under a budget, and what is remembered of the answers between readings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from .broker_clock import BrokerClock, ClockBounds

QueueKey = tuple[str, str, str, int]  # group, topic, broker, queue id
TopicKey = tuple[str, str]  # group, topic

# Answers that are kept; the longest unasked go first, and may be asked for again.
KEPT = 2000
# What failed for one queue is asked again after this, what a whole topic was refused for after that.
FAILURE_HOLDS = timedelta(seconds=60)
REFUSAL_HOLDS = timedelta(minutes=10)


@dataclass(frozen=True)
class SampleBudget:
    """Calls of one reading of one cluster for each kind of sample."""

    exact_calls: int = 20
    start_calls: int = 20
    tag_calls: int = 10
    # How far a broker's clock may be from this host's before its store times are not used.
    clock_error_seconds: float = 1.0


@dataclass(frozen=True)
class FirstStored:
    """When the message at `offset` was stored, by the broker's clock; null has its `error`."""

    offset: int
    stored_at: datetime | None
    error: str | None
    asked_at: datetime


@dataclass(frozen=True)
class StartAnswer:
    """Where a member would start on a queue without an offset; null has its `error`."""

    offset: int | None
    rule: str
    error: str | None
    asked_at: datetime


@dataclass(frozen=True)
class TagCount:
    """Of the `looked_at` next messages of the group's most lagging queue of a topic, `matching` have a wanted tag."""

    expression: str
    looked_at: int
    matching: int
    asked_at: datetime


Answer = TypeVar("Answer", FirstStored, StartAnswer, TagCount)


@dataclass
class SampleMemory:
    """One per cluster and process. `refused`: until when, and why, a broker's topic is not asked again."""

    first: dict[QueueKey, FirstStored] = field(default_factory=dict)
    starts: dict[QueueKey, StartAnswer] = field(default_factory=dict)
    tags: dict[TopicKey, TagCount] = field(default_factory=dict)
    refused: dict[tuple[str, str], tuple[datetime, str]] = field(default_factory=dict)
    # The tag expressions of each group's topics, by its last membership answer; those that take everything left out.
    filters: dict[str, dict[str, str]] = field(default_factory=dict)
    clocks: dict[str, BrokerClock] = field(default_factory=dict)
    # Brokers whose clock is proven to be wrong, and by how much.
    wrong_clocks: dict[str, str] = field(default_factory=dict)

    def refusal(self, broker: str, topic: str, now: datetime) -> str | None:
        until, reason = self.refused.get((broker, topic), (now, ""))
        return reason if until > now else None


@dataclass(frozen=True)
class SamplesReading:
    """The answers of one reading, and the keys whose remembered answer no longer holds."""

    taken_at: datetime
    first: Mapping[QueueKey, FirstStored] = field(default_factory=dict)
    starts: Mapping[QueueKey, StartAnswer] = field(default_factory=dict)
    tags: Mapping[TopicKey, TagCount] = field(default_factory=dict)
    gone_queues: frozenset[QueueKey] = frozenset()
    gone_topics: frozenset[TopicKey] = frozenset()
    # Every first-stored answer that holds in this reading, asked in it or before.
    holding: Mapping[QueueKey, FirstStored] = field(default_factory=dict)
    clocks: Mapping[str, ClockBounds] = field(default_factory=dict)
    calls: int = 0
    seconds: float = 0.0

    @property
    def summary(self) -> dict[str, Any]:
        """What was asked, how many calls it took and how long, and by how much clocks are ahead, as far as is known."""
        asked = {"first_stored": len(self.first), "starts": len(self.starts), "tags": len(self.tags)}
        clocks = {name: bounds.as_list() for name, bounds in self.clocks.items()}
        return {**asked, "calls": self.calls, "seconds": round(self.seconds, 4), "clocks": clocks}


def evicted(answers: dict[QueueKey, Answer], kept: int = KEPT) -> set[QueueKey]:
    """Takes the answers that were asked longest ago out, down to `kept`; returns their keys."""
    surplus = sorted(answers, key=lambda key: answers[key].asked_at)[: max(0, len(answers) - kept)]
    for key in surplus:
        del answers[key]
    return set(surplus)
