"""Targets that stand in rows: a list of offsets that was handed in, or what another reset found before it wrote."""

from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consumers.models import Reset, ResetMethod, ResetOutcome, ResetQueue, ResetStep
from consumers.resets.wish import QueueKey, ResetRefused

# A worker that died while it wrote may have changed the queue.
MAY_HAVE_CHANGED = (ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED, ResetStep.READ_BACK)
NO_COMMIT = gettext_lazy("It had no commit before: no call of RocketMQ takes an offset away.")
STAYED = gettext_lazy("It was read back where it was: the reset did not move it.")


def listed_offsets(reset: Reset) -> dict[QueueKey, int]:
    """Of an OFFSETS reset."""
    rows: list[dict[str, Any]] = reset.value or []
    return {QueueKey.told(row): row["offset"] for row in rows}


def offsets_before(reset: Reset) -> dict[QueueKey, int | str]:
    """Of a RESTORE: of each queue that the other reset may have changed. Raises ResetRefused."""
    found = {QueueKey.of(row): _before(row) for row in touched(str(reset.value))}
    if not found:
        raise ResetRefused(_("The reset to be restored changed no queue: there is nothing to return to."))
    return found


def touched(reset_id: UUID | str) -> QuerySet[ResetQueue]:
    """Queues that the reset may have changed, also those that it left where they were after all."""
    rows = ResetQueue.objects.filter(reset_id=reset_id, step__in=MAY_HAVE_CHANGED)
    # No row is excluded for the method that it has not.
    return rows.filter(Q(method=None) | ~Q(method=ResetMethod.NOTHING))


def _before(row: ResetQueue) -> int | str:
    if row.outcome == ResetOutcome.UNCHANGED:
        return str(STAYED)
    if row.before is not None:
        return row.before
    return row.unknown.get("before") or str(NO_COMMIT)
