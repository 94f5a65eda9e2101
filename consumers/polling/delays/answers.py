"""What one reading learns of brokers' delay levels and timer wheels beyond their offsets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

LevelKey = tuple[str, int]  # broker, level


@dataclass(frozen=True)
class DelayLimits:
    """Calls of one reading of one cluster. Delay levels and timer wheels are looked into every `sample_seconds`."""

    due_calls: int = 100
    sample_calls: int = 40
    sample_seconds: float = 60


@dataclass(frozen=True)
class NextDue:
    """When the message at `offset` is due, by the broker's clock; null has its `error`."""

    offset: int
    due_at: datetime | None
    error: str | None = None


@dataclass(frozen=True)
class LevelReading:
    """`next_due` is null where nothing waits."""

    delay_offset: int
    broker_offset: int
    next_due: NextDue | None


@dataclass(frozen=True)
class GroupRung:
    """Retries of one group among the messages of a level that were looked into. `attempts`: {reconsume times: n}."""

    messages: int
    attempts: Mapping[int, int]
    oldest_stored_at: datetime
    next_due_at: datetime | None


@dataclass(frozen=True)
class LevelSample:
    """Where `error` is set nothing else counts. `refused`: the broker does not let this user pull."""

    looked_at: int = 0
    sampled_of: int = 0
    groups: Mapping[str, GroupRung] = field(default_factory=dict)
    error: str | None = None
    refused: bool = False


@dataclass(frozen=True)
class WheelAnswer:
    """{retry topic: messages}; null has its `error`."""

    counts: Mapping[str, int] | None
    error: str | None = None


@dataclass(frozen=True)
class BrokerDelays:
    """Where `error` is set its levels are not known. `samples` and `wheel`: of those that were asked this time."""

    broker: str
    error: str | None = None
    levels: Mapping[int, LevelReading] = field(default_factory=dict)
    samples: Mapping[int, LevelSample] = field(default_factory=dict)
    wheel: WheelAnswer | None = None


@dataclass(frozen=True)
class DelaysReading:
    """Of all brokers that were read, and what it cost beyond their offsets."""

    brokers: tuple[BrokerDelays, ...]
    calls: int = 0
    bytes: int = 0
    seconds: float = 0.0

    @property
    def summary(self) -> dict[str, int | float]:
        """As it is stored beside the reading."""
        waiting = [level for broker in self.brokers for level in broker.levels.values() if level.next_due is not None]
        looked_at = sum(sample.looked_at for broker in self.brokers for sample in broker.samples.values())
        cost = {"calls": self.calls, "bytes": self.bytes, "seconds": round(self.seconds, 4)}
        return {"levels_waiting": len(waiting), "looked_at": looked_at, **cost}
