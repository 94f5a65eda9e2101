"""What the pages of retries say of conditions, rungs and blocked queues, in the order in which they are needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from consumers.retries.checks.condition_rows import Condition, Severity
from consumers.retries.levels.ladder_rows import Ladder, LadderRung
from consumers.retries.unfinished.blocked_rows import BlockedQueue
from dashboard.figures.retry_ladder import is_late
from dashboard.pages.common.frame import Frame


@dataclass(frozen=True)
class RungLine:
    rung: LadderRung
    attempts: list[tuple[int, int]]
    is_late: bool


def rung_lines(ladder: Ladder) -> list[RungLine]:
    return [
        RungLine(rung, sorted(rung.sampled.attempts.items()) if rung.sampled else [], is_late(rung))
        for rung in ladder.rungs
    ]


def condition_lines(conditions: Sequence[Condition], ladder: Ladder) -> dict[str, Any]:
    """`failing` stops or hurts retries, `notes` are worth knowing; `doubtful` are not known, by the reason why.

    `total`: how many there are. `is_sound`: all of them are known, and none of those that matter fails.
    """
    failing = [condition for condition in conditions if condition.is_failing]
    loud = [condition for condition in failing if condition.severity != Severity.NOTE]
    doubtful: dict[str, list[Condition]] = {}
    for condition in conditions:
        if condition.ok is None:
            doubtful.setdefault(condition.unknown_reason or "", []).append(condition)
    return {
        "late": list(ladder.findings),
        "failing": loud,
        "notes": [condition for condition in failing if condition.severity == Severity.NOTE],
        "doubtful": list(doubtful.items()),
        "total": len(conditions),
        "holding": [condition for condition in conditions if condition.ok],
        "is_sound": not (loud or doubtful or ladder.findings),
    }


def blocked_lines(
    frame: Frame, blocked: Sequence[BlockedQueue], *, with_group: bool
) -> list[tuple[BlockedQueue, str, str]]:
    """Each with the page of its member's work, and with that of its group where the page is of several."""
    return [
        (
            queue,
            frame.to("group_ownership", queue.cluster, queue.group),
            frame.to("group_retries", queue.cluster, queue.group) if with_group else "",
        )
        for queue in blocked
    ]
