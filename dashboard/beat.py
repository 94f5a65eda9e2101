"""Beat's scheduler, which goes on at once where the clock was set back."""

import logging
from datetime import timedelta
from typing import Any

from celery.beat import PersistentScheduler

logger = logging.getLogger(__name__)

# NTP may set a clock back by so little that nothing waits for long.
TOLERANCE = timedelta(seconds=5)


class SteadyScheduler(PersistentScheduler):
    """Celery counts from when each task was last started, by the clock: one that was ahead by an hour would leave an
    hour without a task once it is right."""

    def tick(self, *args: Any, **kwargs: Any) -> float:
        if self._count_anew():
            logger.error("The clock was set back: every task is due now.")
        return super().tick(*args, **kwargs)

    def _count_anew(self) -> bool:
        found = False
        entry: Any
        for entry in self.schedule.values():
            now = entry.default_now()
            if entry.last_run_at > now + TOLERANCE:
                every = getattr(entry.schedule, "run_every", timedelta())
                entry.last_run_at = now - every
                found = True
        if found:
            # Its order goes by the old times.
            self._heap = None
        return found
