"""Ends a reset that is being applied: unfinished queues are marked, and the row records the result."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Count, QuerySet

from consumers.jobs.hold import Hold
from consumers.models import Reset, ResetMethod, ResetOutcome, ResetQueue, ResetStatus, ResetStep
from consumers.resets.permission import note_work

# Queues with one of these outcomes were certainly not moved.
UNTOUCHED = {ResetOutcome.UNCHANGED.value, ResetStep.FAILED.value, ResetStep.NOT_DONE.value}


def finish(hold: Hold, reason: str | None, now: datetime) -> ResetStatus:
    """`reason`: why it ends early; null where it completed. Raises NotHeld."""
    with transaction.atomic():
        hold.renew(now)
        reset = Reset.objects.get(pk=hold.pk)
        rows = ResetQueue.objects.filter(reset=reset, left_out=None)
        rows.filter(step=ResetStep.PLANNED).update(step=ResetStep.NOT_DONE, error=reason)
        counts = _counts(rows)
        reset.status, reset.finished_at = status_of(counts), now
        reset.error = reason or why_not_applied(counts)
        reset.save(update_fields=["status", "finished_at", "error"])
        note_work(reset, " ".join(filter(None, [f"Ended: {in_words(counts)}.", reason])), now)
    return ResetStatus(reset.status)


def end_untold(reset: Reset, status: ResetStatus, reason: str, now: datetime) -> None:
    """Call it within a transaction. `status`: for a reset that no broker was ever told of; a resumed one ends as it had
    ended before.
    """
    rows = ResetQueue.objects.filter(reset=reset, left_out=None)
    was_told = rows.exclude(outcome=None).exists()
    rows.filter(step=ResetStep.PLANNED).update(step=ResetStep.NOT_DONE, error=reason)
    reset.status, reset.finished_at, reset.error = status_of(_counts(rows)) if was_told else status, now, reason
    reset.save(update_fields=["status", "finished_at", "error"])


def status_of(counts: Mapping[str, int]) -> ResetStatus:
    """`counts` of the queues that were to move, by outcome, or by step where there is none."""
    if set(counts) <= {ResetOutcome.CONFIRMED.value}:
        return ResetStatus.APPLIED
    return ResetStatus.FAILED if set(counts) <= UNTOUCHED else ResetStatus.PARTIAL


def why_not_applied(counts: Mapping[str, int]) -> str | None:
    """Null where every queue is confirmed."""
    others = {name: count for name, count in counts.items() if name != ResetOutcome.CONFIRMED}
    if not others:
        return None
    return f"{sum(others.values())} of {sum(counts.values())} queues are not confirmed: {in_words(others)}."


def in_words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "no queue was to be moved"


def _counts(rows: QuerySet[ResetQueue]) -> dict[str, int]:
    stood_there = rows.filter(method=ResetMethod.NOTHING, outcome=ResetOutcome.CONFIRMED)
    moving = rows.exclude(pk__in=stood_there.values("pk"))
    counted = moving.order_by().values_list("outcome", "step").annotate(Count("pk"))
    counts: dict[str, int] = {}
    for outcome, step, count in counted:
        name = outcome or step
        counts[name] = counts.get(name, 0) + count
    return counts
