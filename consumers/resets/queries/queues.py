"""The queues of a reset: the plan of each, and its result."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Case, F, IntegerField, Value, When

from consumers.models import ResetMethod, ResetOutcome, ResetQueue, ResetStep

from .rows import OffsetReading, ResetQueueRow

# Queues without trouble come last: they rarely need a look.
TROUBLE_FIRST: tuple[dict[str, Any], ...] = (
    {"outcome": ResetOutcome.OVERWRITTEN},
    {"outcome": ResetOutcome.UNCHANGED},
    {"outcome": ResetOutcome.UNKNOWN},
    {"step": ResetStep.FAILED},
    {"step": ResetStep.UNANSWERED},
    {"step": ResetStep.NOT_DONE},
    {"left_out__isnull": False},
    {"step": ResetStep.WRITING},
    {"step": ResetStep.WRITTEN},
    {"clipped": True, "outcome": None},
    {"outcome": None},
)
NOTHING_WAS_WRITTEN = {
    ResetStep.PLANNED: "nothing was written to it yet",
    ResetStep.NOT_DONE: "the reset ended before its turn",
}
NOT_WRITTEN_AS_IT_STANDS = "it stands at its target already: nothing is written to it"
NO_COMMIT = "nothing was committed there"
NOT_READ = "it could not be read"
# The names of REST, where the columns have other names.
NAMES = {"now_offset": "now"}
READ_BACK = ("after", "after_at", "outcome", "evidence")
PLAIN = ("topic", "broker", "queue_id", "clipped", "restorable", "step")


def reset_queues(
    reset_id: UUID,
    *,
    outcome: str | None = None,
    step: str | None = None,
    left_out: bool | None = None,
    page: int,
    page_size: int,
) -> tuple[list[ResetQueueRow], int]:
    """Those with trouble first, then in order of topic, broker and id; and how many there are."""
    found = ResetQueue.objects.filter(reset=reset_id)
    if outcome is not None:
        found = found.filter(outcome=outcome)
    if step is not None:
        found = found.filter(step=step, left_out=None)
    if left_out is not None:
        found = found.filter(left_out__isnull=not left_out)
    whens = [When(**which, then=Value(place)) for place, which in enumerate(TROUBLE_FIRST)]
    trouble = Case(*whens, default=Value(len(whens)), output_field=IntegerField())
    ordered = found.order_by(trouble, F("topic"), F("broker"), F("queue_id"))
    start = (page - 1) * page_size
    return [queue_row(queue) for queue in ordered[start : start + page_size]], found.count()


def queue_row(queue: ResetQueue) -> ResetQueueRow:
    values: dict[str, Any] = {
        "min_offset": queue.min_offset,
        "max_offset": queue.max_offset,
        "now": queue.now_offset,
        "wanted": queue.wanted,
        "target": queue.target,
        "target_time": queue.target_time,
        "replayed_messages": queue.replayed_messages,
        "skipped_messages": queue.skipped_messages,
        "method": queue.method,
        "left_out": queue.left_out,
        "before": queue.before,
        "before_at": queue.before_at,
        "written_at": queue.written_at,
        "answered": queue.answered,
        "error": queue.error,
        "after": queue.after,
        "after_at": queue.after_at,
        "outcome": queue.outcome,
        "evidence": queue.evidence,
    }
    why = _why(queue) | {NAMES.get(name, name): reason for name, reason in queue.unknown.items()}
    return ResetQueueRow(
        **{name: getattr(queue, name) for name in PLAIN},
        **values,
        readings=[_reading(at, offset) for at, offset in queue.readings],
        unknown={name: why[name] for name, value in values.items() if value is None},
    )


def _reading(at: str, offset: int | None) -> OffsetReading:
    return OffsetReading(datetime.fromisoformat(at), offset, {"offset": NO_COMMIT} if offset is None else {})


def _why(queue: ResetQueue) -> dict[str, str]:
    plan = queue.left_out or NOT_READ
    unwritten = queue.left_out or _nothing_written(queue)
    return {
        **dict.fromkeys(
            ("min_offset", "max_offset", "wanted", "target", "replayed_messages", "skipped_messages"), plan
        ),
        "now": queue.left_out or NO_COMMIT,
        "target_time": queue.left_out or "the message there was not read",
        "method": plan,
        "left_out": "it is part of the reset",
        "before": unwritten or (NOT_READ if queue.before_at is None else NO_COMMIT),
        "before_at": unwritten or NOT_READ,
        "written_at": unwritten or "it is being written, or was not",
        "answered": unwritten or "no answer of the broker named an offset",
        "error": "nothing went wrong",
        **dict.fromkeys(READ_BACK, unwritten or "it was not read back yet"),
        **({"after": NO_COMMIT} if queue.after_at is not None else {}),
    }


def _nothing_written(queue: ResetQueue) -> str | None:
    if queue.method == ResetMethod.NOTHING:
        return NOT_WRITTEN_AS_IT_STANDS
    return NOTHING_WAS_WRITTEN.get(ResetStep(queue.step))
