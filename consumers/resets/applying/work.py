"""Applies one reset to its end, wherever it stopped before. At most one worker does so at a time.

Before anything is written the cluster is asked once more; what moved since the plan stops what is still to be written.
"""

import logging
from collections.abc import Callable, Sequence
from uuid import UUID

from django.conf import settings
from django.db import transaction

from consumers.errands.hold import Hold, NotHeld
from consumers.errands.ports import Ports
from consumers.models import ConsumerGroup, Reset, ResetMethod, ResetQueue, ResetStatus, ResetStep
from consumers.polling.wire import WireClosed
from consumers.resets.events import note_work
from consumers.resets.facts import GroupFacts
from consumers.resets.planning.gather import gather
from consumers.resets.planning.known import known_of
from consumers.resets.read_back.finish import finish
from consumers.resets.read_back.loop import read_back
from consumers.resets.wish import QueueKey

from .abandon import abandon
from .in_doubt import doubt, settle
from .keep_alive import keep_alive
from .may_write import GONE, why_not_written, why_too_late
from .revalidate import what_moved
from .write import FIELDS, Clock, MayNotWrite, Writing

logger = logging.getLogger(__name__)

Pause = Callable[[float], None]
# Raises CannotGoOn.
Reconnect = Callable[[], Ports]

# A cluster that is registered again and again must not keep a worker for ever.
MOST_WIRES = 3

MOVED = "Stopped: the group or its queues have moved since the plan, so that it would do something else than it says."


class CannotGoOn(Exception):
    """There is no other wire to the same cluster; str() is one sentence."""


def work(reset_id: UUID, ports: Ports, clock: Clock, pause: Pause, reconnect: Reconnect | None = None) -> None:
    """`reconnect` gives other ports where the wire of the first was closed; without it the reset then ends."""
    try:
        before = _read(reset_id)
        hold = Hold.take(Reset, reset_id, ResetStatus.APPLYING, clock())
        reset = _read(reset_id)
        said = "Took it over from a worker that had stopped." if before.working_at else "A worker began to apply it."
        note_work(reset, said, clock())
        late = why_too_late(before, clock())
        _through_wires(reset, late, ports, hold, clock, pause, reconnect)
    except NotHeld as other:
        logger.info("%s", other)


def _through_wires(
    reset: Reset,
    late: str | None,
    ports: Ports,
    hold: Hold,
    clock: Clock,
    pause: Pause,
    reconnect: Reconnect | None,
) -> None:
    """Raises NotHeld."""
    for wires_left in range(MOST_WIRES - 1, -1, -1):
        try:
            return _Work(reset, late, ports, hold, clock, pause).to_the_end()
        except WireClosed as lost:
            logger.warning("The reset %s lost its connections: %s", reset.pk, lost)
            if reconnect is None or not wires_left:
                return abandon(hold, f"Its connections were lost: {lost}.", clock())
        hold.renew(clock())
        try:
            ports = reconnect()
        except CannotGoOn as reason:
            return abandon(hold, str(reason), clock())
        reset = _read(reset.pk)
        note_work(reset, "Its connections were closed meanwhile: it goes on with new ones.", clock())


def _read(reset_id: UUID) -> Reset:
    return Reset.objects.select_related("group").get(pk=reset_id)


class _Work:
    """`late`: why nothing more of it may be written; null where it may."""

    def __init__(self, reset: Reset, late: str | None, ports: Ports, hold: Hold, clock: Clock, pause: Pause) -> None:
        self._reset, self._late, self._ports, self._hold = reset, late, ports, hold
        self._clock, self._pause = clock, pause

    def to_the_end(self) -> None:
        reason = None
        if rows := self._to_be_written():
            reason = self._write(rows)
        if reason is None or self._is_touched():
            read_back(self._reset, self._ports, self._hold, self._clock, self._pause)
        finish(self._hold, reason, self._clock())

    def _write(self, rows: Sequence[ResetQueue]) -> str | None:
        """Why nothing (more) was written; null where all of it was tried."""
        in_doubt = [row for row in rows if row.step == ResetStep.WRITING]
        group, against = self._reset.group, self._late or why_not_written(self._reset.pk)
        if group is None or against:
            doubt(in_doubt, self._clock())
            self._save(in_doubt)
            return f"Stopped: {against or GONE}"
        fresh = self._look(group, rows)
        settle(self._reset, in_doubt, fresh)
        self._save(in_doubt)
        waiting = [row for row in rows if row.step == ResetStep.PLANNED]
        if moved := what_moved(self._reset, waiting, fresh, settings.RESET_TOLERANCE_MESSAGES):
            self._stop(waiting, moved)
            return MOVED
        to_write = [row for row in waiting if row.method != ResetMethod.NOTHING]
        try:
            Writing(self._reset, self._ports, self._hold, self._clock).write(to_write)
        except MayNotWrite as against:
            return f"Stopped: {against}"
        return None

    def _look(self, group: ConsumerGroup, rows: Sequence[ResetQueue]) -> GroupFacts:
        keys, known, now = [QueueKey.of(row) for row in rows], known_of(group), self._clock()
        ports = self._ports
        return keep_alive(self._hold, self._clock, lambda: ports.wire.run(gather(ports, group.name, keys, known, now)))

    def _save(self, rows: Sequence[ResetQueue]) -> None:
        with transaction.atomic():
            self._hold.renew(self._clock())
            ResetQueue.objects.bulk_update(rows, FIELDS)

    def _stop(self, waiting: Sequence[ResetQueue], moved: list[str]) -> None:
        """What stands at its target already is not touched, and not to be read back either."""
        with transaction.atomic():
            self._hold.renew(self._clock())
            waiting_now = ResetQueue.objects.filter(pk__in=[row.pk for row in waiting])
            waiting_now.update(step=ResetStep.NOT_DONE, error="it was not tried: see what moved")
            Reset.objects.filter(pk=self._reset.pk).update(moved=moved)

    def _to_be_written(self) -> list[ResetQueue]:
        """With those that stand at their target, as long as nothing is written: they are part of what was planned."""
        waiting = ResetQueue.objects.filter(reset=self._reset, left_out=None)
        rows = list(waiting.filter(step__in=(ResetStep.PLANNED, ResetStep.WRITING)))
        if self._is_touched() or any(row.step == ResetStep.WRITING for row in rows):
            return [row for row in rows if row.method != ResetMethod.NOTHING]
        return rows

    def _is_touched(self) -> bool:
        written = (ResetStep.WRITTEN, ResetStep.UNANSWERED)
        return ResetQueue.objects.filter(reset=self._reset, step__in=written).exists()
