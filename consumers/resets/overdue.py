"""Ends abandoned resets: plans that have expired, and requests that no worker planned."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from consumers.jobs.hold import Hold
from consumers.models import Reset, ResetMethod, ResetOutcome, ResetQueue, ResetStatus, ResetStep
from consumers.vocabulary.reasons import stored_reason, stored_reasons
from consumers.vocabulary.resets import ApplyReason, PlanReason, ResetAct

from .request import may_be_written, note_work

# Ends a reset that is being applied: unfinished queues are marked, and the row records the result.

# Queues with one of these outcomes were certainly not moved.
UNTOUCHED = {ResetOutcome.UNCHANGED.value, ResetStep.FAILED.value, ResetStep.NOT_DONE.value}


def finish(hold: Hold, reason: str | None, now: datetime) -> ResetStatus:
    """`reason`: why it ends early, as it is stored; null where it completed. Raises NotHeld."""
    with transaction.atomic():
        hold.renew(now)
        reset = Reset.objects.get(pk=hold.pk)
        rows = ResetQueue.objects.filter(reset=reset, left_out=None)
        rows.filter(step=ResetStep.PLANNED).update(step=ResetStep.NOT_DONE, error=reason)
        counts = _counts(rows)
        reset.status, reset.finished_at = status_of(counts), now
        reset.error = reason or why_not_applied(counts)
        reset.save(update_fields=["status", "finished_at", "error"])
        note_work(reset, stored_reasons([ended(counts), *filter(None, [reason])]), now)
    return ResetStatus(reset.status)


def end_unsent(reset: Reset, status: ResetStatus, reason: str, now: datetime) -> None:
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
    values = {"others": sum(others.values()), "all": sum(counts.values()), "counts": _listed(others)}
    return stored_reason(ApplyReason.NOT_CONFIRMED, **values)


def ended(counts: Mapping[str, int]) -> str:
    if not counts:
        return stored_reason(ResetAct.ENDED_WITHOUT_QUEUES)
    return stored_reason(ResetAct.ENDED, counts=_listed(counts))


def _listed(counts: Mapping[str, int]) -> list[str]:
    """With the codes of outcomes and steps."""
    return [f"{count} {name}" for name, count in sorted(counts.items())]


def _counts(rows: QuerySet[ResetQueue]) -> dict[str, int]:
    stood_there = rows.filter(method=ResetMethod.NOTHING, outcome=ResetOutcome.CONFIRMED)
    moving = rows.exclude(pk__in=stood_there.values("pk"))
    counted = moving.order_by().values_list("outcome", "step").annotate(Count("pk"))
    counts: dict[str, int] = {}
    for outcome, step, count in counted:
        name = outcome or step
        counts[name] = counts.get(name, 0) + count
    return counts


PLANNED_WITHIN = timedelta(seconds=60)
# A reset to be applied that no worker took up for so long is not applied any more.
TAKEN_UP_WITHIN = timedelta(minutes=5)
NOT_TAKEN_UP = stored_reason(ApplyReason.NOT_TAKEN_UP_IN_TIME)
NOT_PLANNED = stored_reason(PlanReason.NOT_PLANNED_IN_TIME)


def expire(now: datetime) -> int:
    """Ends expired plans. Returns how many there were."""
    void = Reset.objects.filter(status=ResetStatus.PLANNED, expires_at__lte=now)
    return sum(_close(reset, ResetStatus.EXPIRED, None, stored_reason(ResetAct.PLAN_EXPIRED), now) for reset in void)


def refuse_forgotten(now: datetime) -> int:
    """Refuses requests that no worker has worked on for a minute. Returns how many there were."""
    long_ago = now - PLANNED_WITHIN
    silent = Q(working_at=None, created_at__lt=long_ago) | Q(working_at__lt=long_ago)
    forgotten = Reset.objects.filter(silent, status=ResetStatus.PLANNING)
    return sum(_close(reset, ResetStatus.REFUSED, NOT_PLANNED, NOT_PLANNED, now) for reset in forgotten)


def refuse_unplanned(reset_id: UUID, reason: str, now: datetime) -> None:
    """Refuses a request that no worker can plan, for a stored reason. Does nothing where it is planned by now."""
    for reset in _planning(reset_id):
        _close(reset, ResetStatus.REFUSED, reason, reason, now)


def expire_untaken(now: datetime) -> int:
    """Ends resets to be applied that no worker took up: they would move long outdated offsets once a worker is back.

    Returns how many there were.
    """
    ended = 0
    for reset_id in _untaken(now).values_list("pk", flat=True):
        with transaction.atomic():
            # Checked again under the lock: a worker may take it up at this time.
            reset = _untaken(now).select_for_update().filter(pk=reset_id).first()
            if reset is None or may_be_written(reset).exists():
                continue
            end_unsent(reset, ResetStatus.EXPIRED, NOT_TAKEN_UP, now)
            note_work(reset, NOT_TAKEN_UP, now)
            ended += 1
    return ended


def _untaken(now: datetime) -> QuerySet[Reset]:
    return Reset.objects.filter(status=ResetStatus.APPLYING, working_at=None, started_at__lt=now - TAKEN_UP_WITHIN)


def _planning(reset_id: UUID) -> QuerySet[Reset]:
    return Reset.objects.filter(pk=reset_id, status=ResetStatus.PLANNING)


def _close(reset: Reset, status: ResetStatus, error: str | None, sentence: str, now: datetime) -> bool:
    """False where the reset was continued meanwhile."""
    with transaction.atomic():
        same = Reset.objects.filter(pk=reset.pk, status=reset.status)
        if not same.update(status=status, error=error, finished_at=now):
            return False
        note_work(reset, sentence, now)
    return True
