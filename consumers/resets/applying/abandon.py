"""Ends a reset whose cluster cannot be reached at all."""

from datetime import datetime

from django.db import transaction

from consumers.jobs.hold import Hold
from consumers.models import ResetOutcome, ResetQueue, ResetStep
from consumers.resets.read_back.finish import finish

MAYBE_MOVED = (ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED)


def abandon(hold: Hold, reason: str, now: datetime) -> None:
    """What may have been moved is UNKNOWN, and the rest was not done. Raises NotHeld."""
    with transaction.atomic():
        hold.renew(now)
        maybe = ResetQueue.objects.filter(reset=hold.pk, left_out=None, step__in=MAYBE_MOVED)
        evidence = f"it could not be read back: {reason}"
        maybe.update(step=ResetStep.READ_BACK, outcome=ResetOutcome.UNKNOWN, evidence=evidence)
    finish(hold, reason, now)
