"""Checks the clock of this machine before every task. A task can ask whether the clock was set since."""

import logging
from typing import Any

from celery.signals import task_prerun

from consumers.clock.status import expiry_hold, hold_words

from .watch import this_machine, watch_clock

logger = logging.getLogger(__name__)


@task_prerun.connect
def watch_before_task(**_: Any) -> None:
    """What fails here is logged by Celery, and the task runs."""
    watch_clock()


def may_expire() -> bool:
    """Whether the clock is trusted to tell what is old enough to be deleted. It says in the log why not."""
    hold = expiry_hold(this_machine().boot)
    if hold is not None:
        logger.warning("%s", hold_words(hold))
    return hold is None
