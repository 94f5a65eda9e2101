"""Runs one re-send to its end, wherever it stopped before. At most one worker does so at a time.

What was being sent is looked for before anything else is sent; only what is certainly not there is sent again.
"""

import logging
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from consumers.errands.hold import Hold, NotHeld
from consumers.errands.ports import Ports
from consumers.models import Destination, Resend, ResendItem, ResendOutcome, ResendStatus

from .batch import Batch, Clock
from .errand import Errand
from .finish import finish
from .may_send import why_not_sent
from .search import DIVERTED
from .settle import settle, settled_from

logger = logging.getLogger(__name__)

Pause = Callable[[float], None]

BATCH = 16
# So many in a row that could not be sent: the rest would not fare better.
FAILURES_IN_A_ROW = 16
BEAT = timedelta(seconds=5)


def work(resend_id: UUID, ports: Ports, clock: Clock, pause: Pause) -> None:
    try:
        hold = Hold.take(Resend, resend_id, ResendStatus.RUNNING, clock())
        resend = Resend.objects.select_related("group").get(pk=resend_id)
        _Work(resend, ports, hold, clock, pause).to_the_end()
    except NotHeld as other:
        logger.info("%s", other)


class _Work:
    def __init__(self, resend: Resend, ports: Ports, hold: Hold, clock: Clock, pause: Pause) -> None:
        self._resend, self._ports, self._hold = resend, ports, hold
        self._clock, self._pause = clock, pause
        self._errand = Errand(resend.pk, resend.group, resend.destination == Destination.GROUP)
        self._batch = Batch(resend, self._errand, ports, hold, clock)
        self._failures = 0
        self._diverted = False

    def to_the_end(self) -> None:
        while True:
            if unsettled := self._items(ResendOutcome.SENDING):
                self._settle(unsettled)
                continue
            if self._is_cancelled():
                return finish(self._hold, None, self._clock())
            if reason := self._why_to_stop():
                return finish(self._hold, reason, self._clock())
            planned = self._items(ResendOutcome.PLANNED)[: self._batch_size]
            if not planned:
                return finish(self._hold, None, self._clock())
            self._send(planned)

    @property
    def _batch_size(self) -> int:
        """A quarter of a second's worth. The first one goes alone: it shows whether the broker diverts messages."""
        is_first = not ResendItem.objects.filter(resend=self._resend, outcome=ResendOutcome.SENT).exists()
        return 1 if is_first else max(1, min(BATCH, int(self._resend.rate_per_second / 4)))

    def _send(self, items: list[ResendItem]) -> None:
        began = self._clock()
        self._batch.send(items)
        self._note(items)
        due = began + timedelta(seconds=len(items) / self._resend.rate_per_second)
        self._pause(max((due - self._clock()).total_seconds(), 0.0))

    def _settle(self, items: list[ResendItem]) -> None:
        """Waits until the queues can be believed, then looks, and again after a while where a broker is silent."""
        while (wait := settled_from(items) - self._clock()) > timedelta():
            self._pause(min(wait, BEAT).total_seconds())
            self._hold.renew(self._clock())
        settle(self._ports, self._errand, items, self._clock())
        self._batch.save(items)
        self._note(items)
        if any(item.outcome == ResendOutcome.SENDING for item in items):
            self._pause(BEAT.total_seconds())

    def _note(self, items: list[ResendItem]) -> None:
        for item in items:
            self._failures = self._failures + 1 if item.outcome == ResendOutcome.FAILED else 0
        self._diverted = self._diverted or any(item.error == DIVERTED for item in items)

    def _why_to_stop(self) -> str | None:
        if self._diverted:
            return f"Stopped: {DIVERTED}."
        if self._failures >= FAILURES_IN_A_ROW:
            return f"Stopped after {self._failures} messages in a row that could not be sent."
        return why_not_sent(self._resend.pk)

    def _items(self, outcome: ResendOutcome) -> list[ResendItem]:
        return list(ResendItem.objects.filter(resend=self._resend, outcome=outcome).order_by("pk")[: 2 * BATCH])

    def _is_cancelled(self) -> bool:
        return Resend.objects.filter(pk=self._resend.pk, cancel_wanted=True).exists()
