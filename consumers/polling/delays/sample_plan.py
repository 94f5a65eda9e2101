"""Which messages of which delay levels to look into, under a budget of calls: all of a level where they fit.

Else they are spread over what waits, from its head on: what fires next is always among them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from .answers import LevelKey

# As many as a broker gives in one answer, and of what is on disk alone (RocketMQ 5.4.0, MessageStoreConfig:
# maxTransferCountOnMessageInMemory and …InDisk).
AT_ONCE, AT_ONCE_FROM_DISK = 32, 8
NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class LevelPlan:
    """[start, end) waits; `calls` pulls begin at `offsets`, one after the other where there is one offset alone."""

    start: int
    end: int
    calls: int

    @property
    def is_whole(self) -> bool:
        return self.calls * AT_ONCE >= self.end - self.start

    @property
    def offsets(self) -> list[int]:
        waiting = self.end - self.start
        return [self.start] if self.is_whole else [self.start + n * waiting // self.calls for n in range(self.calls)]


def plan_sample(
    waiting: Mapping[LevelKey, tuple[int, int]], sampled_at: Mapping[LevelKey, datetime], calls: int
) -> dict[LevelKey, LevelPlan]:
    """`waiting`: (delay offset, end) of levels with messages. Where there are more levels than calls, those that were
    not looked into for the longest time come first."""
    order = sorted(waiting, key=lambda key: (sampled_at.get(key, NEVER), key))
    granted = dict.fromkeys(order[:calls], 1)
    left = calls - len(granted)
    while left > 0:
        wanting = [key for key in granted if granted[key] < _most_calls(*waiting[key])][:left]
        if not wanting:
            break
        for key in wanting:
            granted[key] += 1
        left -= len(wanting)
    return {key: LevelPlan(*waiting[key], given) for key, given in granted.items()}


def _most_calls(start: int, end: int) -> int:
    """Enough for all of it from disk, also where the first answer is that the oldest are gone."""
    return (end - start) // AT_ONCE_FROM_DISK + 1
