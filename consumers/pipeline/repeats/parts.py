"""Repeats of single queues, and how they become events: one for each group and cause while little time lies between.

No Django, no clock. An event is made of its parts alone, so that the same parts give the same events, however the time
was cut into runs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from consumers.rocketmq.names import RETRY_PREFIX
from consumers.vocabulary.repeats import Confidence, RepeatCause, RepeatEvidence, RepeatUnknown

# What a page can show; parts count all the same.
EVIDENCE_KEPT = 20
LOST = (RepeatEvidence.OWNER_LEFT, RepeatEvidence.OWNER_SILENT)
REPORTED_AGAIN = (RepeatEvidence.FAILURES_REPORTED,)

Entry = dict[str, Any]


@dataclass(frozen=True)
class RepeatPart:
    """What came again of one queue, of a retry topic in one minute, or of queues of a topic that nobody knows.

    It happened between `after_us` (null: no earlier reading is known) and `at_us`. Offsets are half-open, null where
    they are unknown. `low` and `high` count messages by offsets; a null has its reason in `unknown`.
    """

    cause: RepeatCause
    confidence: Confidence
    after_us: int | None
    at_us: int
    topic: str
    broker: str | None
    queue_id: int | None
    low: int | None
    high: int | None
    from_offset: int | None = None
    until_offset: int | None = None
    unknown: RepeatUnknown | None = None
    evidence: Sequence[Entry] = ()

    @property
    def place(self) -> tuple[str, str, int]:
        return self.topic, self.broker or "", -1 if self.queue_id is None else self.queue_id

    @property
    def is_of_retries(self) -> bool:
        """Of a retry topic as a whole."""
        return self.broker is None and self.topic.startswith(RETRY_PREFIX)

    @property
    def is_of_unknown_queues(self) -> bool:
        return self.broker is None and not self.is_of_retries

    def stored(self) -> Entry:
        """As a row of an event has it."""
        return {
            "after_us": self.after_us,
            "at_us": self.at_us,
            "confidence": str(self.confidence),
            "topic": self.topic,
            "broker": self.broker,
            "queue_id": self.queue_id,
            "low": self.low,
            "high": self.high,
            "from_offset": self.from_offset,
            "until_offset": self.until_offset,
            "unknown": None if self.unknown is None else str(self.unknown),
            "evidence": [dict(one) for one in self.evidence],
        }

    @classmethod
    def of_stored(cls, cause: str, row: Mapping[str, Any]) -> "RepeatPart":
        values = {**row, "confidence": Confidence(row["confidence"])}
        values["unknown"] = None if row["unknown"] is None else RepeatUnknown(row["unknown"])
        return cls(cause=RepeatCause(cause), **values)


def evidence(code: RepeatEvidence, **parameters: Any) -> Entry:
    """Parameters that are unknown are left out."""
    return {"code": str(code), **{name: value for name, value in parameters.items() if value is not None}}


@dataclass(frozen=True)
class RepeatFound:
    """One event of a group. `parts` are in order of time and place."""

    cause: RepeatCause
    parts: Sequence[RepeatPart] = field(repr=False)

    @property
    def started_us(self) -> int:
        """Its key: the first reading that shows it."""
        return self.parts[0].at_us

    @property
    def began_after_us(self) -> int | None:
        return self.parts[0].after_us

    @property
    def last_us(self) -> int:
        return self.parts[-1].at_us

    @property
    def confidence(self) -> Confidence:
        return min((part.confidence for part in self.parts), key=list(Confidence).index)

    @property
    def low(self) -> int | None:
        """The known counts of some parts are a lower bound of the whole."""
        known = [part.low for part in self.parts if part.low is not None]
        return sum(known) if known else None

    @property
    def high(self) -> int | None:
        known = [part.high for part in self.parts if part.high is not None]
        return sum(known) if len(known) == len(self.parts) else None

    @property
    def unknown(self) -> dict[str, str]:
        """The reason of each null."""
        bound = next((part.unknown for part in self.parts if part.unknown is not None), None)
        reasons = {
            "redelivered_low": bound if self.low is None else None,
            "redelivered_high": bound if self.high is None else None,
            "began_after": RepeatUnknown.NOT_READ_BEFORE if self.began_after_us is None else None,
        }
        return {name: str(reason) for name, reason in reasons.items() if reason is not None}

    @property
    def evidence(self) -> list[Entry]:
        """Of the parts, each once; of a count that members report again and again the newest. Where nobody knows what
        several lost members held, how many there were comes first."""
        unknown = [one for part in self.parts if part.is_of_unknown_queues for one in part.evidence]
        lost = {one["client_id"] for one in unknown if one["code"] in LOST}
        found = [evidence(RepeatEvidence.MEMBERS_LOST, members=len(lost))] if len(lost) > 1 else []
        for part in self.parts:
            for one in part.evidence:
                if one["code"] in REPORTED_AGAIN:
                    found = [other for other in found if other["code"] != one["code"]]
                if one not in found and len(found) < EVIDENCE_KEPT:
                    found.append(dict(one))
        return found


def joined_parts(parts: Iterable[RepeatPart], merge_us: int, longest_us: int) -> Iterator[RepeatFound]:
    """Events of one group, by cause: parts with no more than `merge_us` between two belong together, as long as the
    event does not last longer than `longest_us`. So do those of queues that nobody knows, however much lies between
    them: each restart of a deploy is one, and none tells more than the last."""
    by_cause: dict[RepeatCause, list[RepeatPart]] = {}
    for part in parts:
        by_cause.setdefault(part.cause, []).append(part)
    for cause, of_cause in by_cause.items():
        ordered = sorted(of_cause, key=lambda part: (part.at_us, part.place))
        chain: list[RepeatPart] = []
        for part in ordered:
            if chain and not _belongs(chain, part, merge_us, longest_us):
                yield RepeatFound(cause, chain)
                chain = []
            chain.append(part)
        yield RepeatFound(cause, chain)


def _belongs(chain: Sequence[RepeatPart], part: RepeatPart, merge_us: int, longest_us: int) -> bool:
    is_unknown = part.is_of_unknown_queues and chain[-1].is_of_unknown_queues
    is_near = is_unknown or part.at_us - chain[-1].at_us <= merge_us
    return is_near and part.at_us - chain[0].at_us < longest_us
