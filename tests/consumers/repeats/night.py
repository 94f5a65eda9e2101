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


@dataclass(frozen=True)
class NightGroup:
    """`expected`: the cause that has to be found; null: none. `tolerated`: causes that may be told as possible, where
    nothing tells them from the truth. `is_quiet`: nothing may be told at all."""

    name: str
    queues: int
    each: int
    broker: str = "broker-a"
    expected: RepeatCause | None = None
    tolerated: tuple[RepeatCause, ...] = ()
    seconds: tuple[float, float] = (0.005, 0.015)
    behaviour: Mapping[str, int] = field(default_factory=dict)
    in_place: bool = False

    @property
    def group(self) -> str:
        return f"night-{self.name}"

    @property
    def topic(self) -> str:
        return f"Night_{self.name}"

    @property
    def is_quiet(self) -> bool:
        return self.expected is None and not self.tolerated


CRASH = NightGroup("crash", 4, 400, expected=RepeatCause.CONSUMER_CRASH, seconds=(0.05, 0.1))
OUT_OF_ORDER = NightGroup(
    "out_of_order", 1, 2500, expected=RepeatCause.FINISHED_OUT_OF_ORDER, seconds=(0.05, 0.1), behaviour={"holds_at": 5}
)
LOCAL_RETRY = NightGroup(
    "local_retry", 1, 40, expected=RepeatCause.LOCAL_RETRY_RESTART, behaviour={"fails_at": 10}, in_place=True
)
DRAINED = NightGroup("left_drained", 4, 100, "broker-b")
BUSY = NightGroup("left_busy", 4, 400, "broker-b", tolerated=(RepeatCause.CONSUMER_CRASH,), seconds=(0.05, 0.1))
JOINED = NightGroup("joined", 4, 300, "broker-b", tolerated=(RepeatCause.STALE_OFFSET,), seconds=(0.05, 0.1))
DUPLICATE = NightGroup("duplicate", 4, 100, "broker-b", expected=RepeatCause.DUPLICATE_CLIENT_ID)
WRONG_ACK = NightGroup("wrong_ack", 4, 75, expected=RepeatCause.WRONG_ACK, behaviour={"fails_every": 10})
BATCH = NightGroup("batch", 4, 64, "broker-b", expected=RepeatCause.BATCH_RECONSUME, behaviour={"fails_every": 16})
RESET = NightGroup("reset", 4, 100, expected=RepeatCause.RESET)
ELSEWHERE = NightGroup("reset_elsewhere", 4, 150, expected=RepeatCause.RESET_ELSEWHERE, seconds=(0.05, 0.1))
QUIET = NightGroup("quiet", 4, 150)
GROUPS = (
    CRASH, OUT_OF_ORDER, LOCAL_RETRY, DRAINED, BUSY, JOINED, DUPLICATE, WRONG_ACK, BATCH, RESET, ELSEWHERE, QUIET,
)  # fmt: skip


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
