"""The lines of the queues' table: who owns each, who is to own it, and which of them want attention."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.ownership.rows import AssignmentRow
from consumers.vocabulary.reasons import ReasonCode, reason_code

RETRY = "%RETRY%"


class Verdict(StrEnum):
    """The worst first. OWNED: by one, and who is to own it cannot be said."""

    SEVERAL = "several"
    NOBODY = "nobody"
    OTHER = "other"
    ABSENT = "absent"
    UNKNOWN = "unknown"
    OWNED = "owned"
    EXPECTED = "expected"


# What proves that a queue has no owner; any other reason leaves it unknown.
NOT_OWNED = {ReasonCode.NO_OWNER: Verdict.NOBODY, ReasonCode.NO_MEMBER: Verdict.ABSENT}
WORDS: dict[Verdict, str | Promise] = {
    Verdict.SEVERAL: _("several owners"),
    Verdict.NOBODY: _("no owner"),
    Verdict.OTHER: _("not as expected"),
    Verdict.ABSENT: _("no member"),
    Verdict.UNKNOWN: _("unknown"),
    Verdict.OWNED: _("owned, not compared"),
    Verdict.EXPECTED: _("as expected"),
}


@dataclass(frozen=True)
class QueueLine:
    """`unexpected`: why who is to own it cannot be said; `why`: what the rest of the line does not say."""

    topic: str
    broker: str
    queue_id: int
    owners: Sequence[AssignmentRow]
    expected: str | None
    unexpected: str
    verdict: Verdict
    why: str

    @property
    def is_retry(self) -> bool:
        return self.topic.startswith(RETRY)

    @property
    def is_odd(self) -> bool:
        return self.verdict not in (Verdict.OWNED, Verdict.EXPECTED)

    @property
    def words(self) -> str | Promise:
        return WORDS[self.verdict]


def queue_lines(rows: Iterable[AssignmentRow]) -> list[QueueLine]:
    """`rows` as the selector gives them. What wants attention first, then by topic, broker and queue."""
    lines = [_line(list(same)) for _place, same in groupby(rows, key=lambda row: (row.topic, row.broker, row.queue_id))]
    order = list(Verdict)
    return sorted(lines, key=lambda line: (order.index(line.verdict) if line.is_odd else len(order), line.is_retry))


def counts(lines: Iterable[QueueLine]) -> list[tuple[Verdict, str | Promise, int]]:
    """How many queues there are of each verdict, the good ones first."""
    found = Counter(line.verdict for line in lines)
    return [(verdict, WORDS[verdict], found[verdict]) for verdict in reversed(Verdict) if found[verdict]]


def _line(rows: Sequence[AssignmentRow]) -> QueueLine:
    first = rows[0]
    owners = [row for row in rows if row.owner is not None]
    reason = "" if owners else first.unknown.get("owner", "")
    verdict = _verdict(owners, first.expected_owner, reason)
    unexpected = first.unknown.get("expected_owner", "")
    why = reason if verdict in (Verdict.UNKNOWN, Verdict.ABSENT) else unexpected
    return QueueLine(
        *(first.topic, first.broker, first.queue_id), owners, first.expected_owner, unexpected, verdict, why
    )


def _verdict(owners: Sequence[AssignmentRow], expected: str | None, reason: str) -> Verdict:
    if len(owners) > 1:
        return Verdict.SEVERAL
    if not owners:
        code = reason_code(reason)
        return Verdict.UNKNOWN if code is None else NOT_OWNED.get(code, Verdict.UNKNOWN)
    if expected is None:
        return Verdict.OWNED
    return Verdict.EXPECTED if expected == owners[0].owner else Verdict.OTHER
