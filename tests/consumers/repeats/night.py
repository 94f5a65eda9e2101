"""The groups of the scripted night, what is true of each by what its members wrote down, and the table of both.

A message is redelivered when it was delivered more than once; in the group that retries in place, when a second member
was given it: the retries in place are no deliveries of the broker.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from consumers.vocabulary.repeats import Confidence, RepeatCause
from tests.plugins.noting_members import Delivery


@dataclass(frozen=True, eq=False)
class NightGroup:
    """`expected`: the cause that has to be found; null: none. `tolerated`: causes that may be told as possible, where
    nothing tells them from the truth. `second`: a broker that has as many queues of the topic, all empty.
    `membership`: of its members. `is_quiet`: nothing may be told at all."""

    name: str
    queues: int
    each: int
    broker: str = "broker-a"
    expected: RepeatCause | None = None
    tolerated: tuple[RepeatCause, ...] = ()
    seconds: tuple[float, float] = (0.005, 0.015)
    behaviour: Mapping[str, int] = field(default_factory=dict)
    in_place: bool = False
    second: str | None = None
    membership: Mapping[str, object] = field(default_factory=dict)

    @property
    def group(self) -> str:
        return f"night-{self.name}"

    @property
    def topic(self) -> str:
        return f"Night_{self.name}"

    @property
    def is_quiet(self) -> bool:
        return self.expected is None and not self.tolerated


class Told(NamedTuple):
    """An event; null bounds are unknown."""

    cause: str
    confidence: str
    low: int | None
    high: int | None


@dataclass(frozen=True)
class Line:
    """One group when the night is over. `true`: messages redelivered. `in_flight`: what the member that went had
    beyond the committed offsets; null: nobody went."""

    night: NightGroup
    told: Sequence[Told]
    true: int
    in_flight: int | None

    @property
    def low(self) -> int:
        return sum(one.low or 0 for one in self.told)

    @property
    def high(self) -> int | None:
        """None: no bound."""
        known = [one.high for one in self.told if one.high is not None]
        return sum(known) if len(known) == len(self.told) else None

    @property
    def is_within(self) -> bool:
        return self.low <= self.true and (self.high is None or self.true <= self.high)

    @property
    def is_wanted(self) -> bool:
        return self.night.expected is not None

    @property
    def is_found(self) -> bool:
        return self.is_wanted and any(one.cause == self.night.expected for one in self.told)

    @property
    def is_possible_only(self) -> bool:
        return self.is_found and all(
            one.confidence == Confidence.POSSIBLE for one in self.told if one.cause == self.night.expected
        )

    @property
    def invented(self) -> list[Told]:
        """Events of causes that nobody made; a cause that is only possible is none, where nothing rules it out."""
        return [
            one
            for one in self.told
            if one.cause != self.night.expected
            and (one.cause not in self.night.tolerated or (one.confidence != Confidence.POSSIBLE and not self.true))
        ]

    @property
    def wrongly_proven(self) -> list[Told]:
        causes = {self.night.expected, *self.night.tolerated} if self.true else {self.night.expected}
        return [one for one in self.told if one.confidence == Confidence.PROVEN and one.cause not in causes]


def redelivered(deliveries: Iterable[Delivery], night: NightGroup) -> int:
    """Messages, not deliveries."""
    members: dict[str, list[str]] = defaultdict(list)
    for one in deliveries:
        if one.group == night.group:
            members[one.unique_key].append(one.member)
    return sum(len(set(of_key) if night.in_place else of_key) > 1 for of_key in members.values())


def delivered(deliveries: Iterable[Delivery], night: NightGroup) -> int:
    """Different messages."""
    return len({one.unique_key for one in deliveries if one.group == night.group})


def table(lines: Sequence[Line]) -> str:
    head = ("group", "expected", "told", "low", "true", "high", "in flight")
    rows = [head, *(_cells(line) for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    wanted, found = sum(line.is_wanted for line in lines), sum(line.is_found for line in lines)
    invented, wrong = (
        sum(len(one) for one in of_lines)
        for of_lines in ([line.invented for line in lines], [line.wrongly_proven for line in lines])
    )
    possible = sum(line.is_possible_only for line in lines)
    within = sum(line.is_within for line in lines)
    held = [line for line in lines if line.in_flight and line.high is not None]
    ratio = ", ".join(f"{line.night.name} {((line.high or 0) - line.low) / (line.in_flight or 1):.2f}" for line in held)
    text += [
        f"events expected {wanted}, found {found} ({possible} as possible only), invented {invented}",
        f"wrong proven causes {wrong}",
        f"truth inside bounds {within} of {len(lines)}; bound width by messages in flight: {ratio}",
    ]
    return "\n".join(text)


def _cells(line: Line) -> tuple[str, ...]:
    told = ", ".join(f"{one.cause} ({one.confidence})" for one in line.told) or "–"
    numbers = (str(line.low), str(line.true), "unknown" if line.high is None else str(line.high))
    in_flight = "–" if line.in_flight is None else str(line.in_flight)
    return line.night.name, line.night.expected or "–", told, *numbers, in_flight
