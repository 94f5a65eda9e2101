"""Ends resets that one worker after the other dies of: they would keep their group from ever being reset again."""

import logging
from datetime import datetime, timedelta

from consumers.jobs.hold import Hold, NotHeld, left_behind
from consumers.models import Reset, ResetStatus

from .abandon import abandon

logger = logging.getLogger(__name__)

TRIED_FOR = timedelta(hours=1)
# Somebody tried it lately: one that only waited for workers to be there deserves its try.
LATELY = timedelta(minutes=5)
REASON = "Stopped: for an hour every worker that took it up has failed at it; their logs say why."


def give_up_hopeless(now: datetime) -> int:
    """How many there were."""
    tried = Reset.objects.filter(started_at__lt=now - TRIED_FOR, working_at__gt=now - LATELY)
    hopeless = tried.filter(pk__in=left_behind(Reset, ResetStatus.APPLYING, now)).values_list("pk", flat=True)
    ended = 0
    for reset_id in hopeless:
        try:
            abandon(Hold.take(Reset, reset_id, ResetStatus.APPLYING, now), REASON, now)
            ended += 1
        except NotHeld as other:
            logger.info("%s", other)
    return ended
