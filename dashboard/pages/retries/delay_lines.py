"""The delay levels of a cluster's brokers as a table: a column for each level, a row for each broker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from consumers.retries.levels.broker_levels import BrokerLevel, BrokerLevels
from consumers.retries.levels.ladder_rows import DelayFinding


@dataclass(frozen=True)
class LevelHead:
    """`delays`: what the brokers say; more than one where they differ."""

    level: int
    delays: Sequence[float]


@dataclass(frozen=True)
class LevelCell:
    """`level` is null where the broker does not have it."""

    level: BrokerLevel | None

    @property
    def is_late(self) -> bool:
        return self.level is not None and self.level.is_late


@dataclass(frozen=True)
class DelayLine:
    levels: BrokerLevels
    cells: Sequence[LevelCell]

    @property
    def why_nothing(self) -> str | None:
        """Why no level of the broker is known; null where one is."""
        known = any(cell.level is not None and cell.level.backlog is not None for cell in self.cells)
        return None if known else self.levels.unknown.get("backlog")


@dataclass(frozen=True)
class DelayTable:
    heads: Sequence[LevelHead]
    lines: Sequence[DelayLine]
    findings: Sequence[DelayFinding]


def delay_tables(levels: Mapping[str, Sequence[BrokerLevels]]) -> dict[str, DelayTable]:
    """By the cluster's name."""
    return {name: _table(brokers) for name, brokers in levels.items()}


def _table(brokers: Sequence[BrokerLevels]) -> DelayTable:
    said: dict[int, set[float]] = {}
    for level in (level for broker in brokers for level in broker.levels):
        said.setdefault(level.level, set()).update({level.delay_seconds} - {None})  # type: ignore[arg-type]
    heads = [LevelHead(number, sorted(said[number])) for number in sorted(said)]
    lines = [_line(broker, [head.level for head in heads]) for broker in brokers]
    return DelayTable(heads, lines, [finding for broker in brokers for finding in broker.findings])


def _line(broker: BrokerLevels, numbers: Sequence[int]) -> DelayLine:
    held = {level.level: level for level in broker.levels}
    return DelayLine(broker, [LevelCell(held.get(number)) for number in numbers])
