"""Checks the clock of this machine before every task. A task can ask whether the clock was set since."""

import logging
import math
import time
from typing import Any

from celery.signals import task_prerun

from consumers.clock.status import expiry_hold, hold_words
from consumers.models import Doubt

from .watch import this_machine, watch_clock

logger = logging.getLogger(__name__)


@task_prerun.connect
def watch_before_task(**_: Any) -> None:
    """What fails here is logged by Celery, and the task runs."""
    watch_clock()


# A task asks every few seconds, and a new site has the same answer for a day.
SAID_EVERY_SECONDS = 3600.0
_said_at: dict[Doubt | None, float] = {}


def may_expire() -> bool:
    """Whether the clock is trusted to tell what is old enough to be deleted. Why not is in the log of each worker, at
    once and then every hour.
    """
    hold = expiry_hold(this_machine().boot)
    if hold is None:
        _said_at.clear()
        return True
    now = time.monotonic()
    if now - _said_at.get(hold.doubt, -math.inf) >= SAID_EVERY_SECONDS:
        _said_at[hold.doubt] = now
        logger.warning("%s", hold_words(hold))
    return False
