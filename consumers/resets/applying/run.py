"""Applies a reset with its cluster's connections; called by the task."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction

from consumers.jobs.hold import Hold, NotHeld, Ports, connected, keep_alive, left_behind
from consumers.models import (
    Cluster,
    ConsumerGroup,
    Reset,
    ResetMethod,
    ResetOutcome,
    ResetQueue,
    ResetStatus,
    ResetStep,
)
from consumers.polling.registration import NoAccess, WireClosed
from consumers.resets.applying.loop import read_back
from consumers.resets.applying.write import FIELDS, GONE, Clock, MayNotWrite, Writing, why_not_written, why_too_late
from consumers.resets.methods import what_moved
from consumers.resets.planning.gather import gather, known_of
from consumers.resets.planning.queue_plan import GroupSetup
from consumers.resets.request import finish, note_work
from consumers.resets.target_values import QueueKey
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import ApplyReason, ReadBackEvidence, ResetAct
from consumers.words.reasons import stored_words

# Queues whose worker died while it wrote them. A rule over later facts decides whether one may be written again.
# Setting the same absolute offset twice may replay messages twice: a group that went back and has consumed everything
# again is where it was before. So a queue is written again only where that is impossible.

IN_DOUBT = stored_reason(ApplyReason.IN_DOUBT)


def settle(rows: Sequence[ResetQueue], fresh: GroupSetup) -> None:
    """Sets each of `rows`, unsaved: PLANNED where another write cannot replay anything twice, else UNANSWERED.

    `fresh` must be read so late that the dead worker's last call has arrived or is lost.
    """
    for row in rows:
        if _may_be_written_again(row, fresh):
            row.step, row.error, row.before, row.before_at = ResetStep.PLANNED, None, None, None
        else:
            doubt([row], fresh.taken_at)


def doubt(rows: Sequence[ResetQueue], now: datetime) -> None:
    """Sets each of `rows`, unsaved, where only reading back can show more."""
    for row in rows:
        row.step, row.error, row.written_at = ResetStep.UNANSWERED, IN_DOUBT, now


def _may_be_written_again(row: ResetQueue, fresh: GroupSetup) -> bool:
    queue = fresh.queues.get(QueueKey.of(row))
    if queue is None or queue.error is not None or row.target is None or queue.now_offset != row.before:
        return False
    if row.method == ResetMethod.CLIENT or row.before == row.target:
        return False
    # Whoever went further ahead never returns to the former offset. Whoever went back does, by consuming: also a member
    # that has left, because nobody looked since the worker died.
    return row.before is None or row.target > row.before


# Applies one reset to its end, wherever it stopped before. At most one worker does so at a time.
# Before anything is written the cluster is asked again; what moved since the plan stops the remaining writes.

logger = logging.getLogger(__name__)

Pause = Callable[[float], None]
# Raises CannotGoOn.
Reconnect = Callable[[], Ports]

# A cluster that is registered again and again must not occupy a worker forever.
MOST_WIRES = 3

MOVED = stored_reason(ApplyReason.MOVED)


class CannotGoOn(Exception):
    """There is no other wire to the same cluster; str() is a stored reason, or the words of one who registers it."""


def work(reset_id: UUID, ports: Ports, clock: Clock, pause: Pause, reconnect: Reconnect | None = None) -> None:
    """`reconnect` gives other ports where the wire of the first was closed; without it the reset then ends."""
    try:
        before = _read(reset_id)
        hold = Hold.take(Reset, reset_id, ResetStatus.APPLYING, clock())
        reset = _read(reset_id)
        note_work(reset, stored_reason(ResetAct.TOOK_OVER if before.working_at else ResetAct.BEGAN), clock())
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
            logger.warning("The reset %s lost its connections: %s", reset.pk, stored_words(str(lost)))
            if reconnect is None or not wires_left:
                return abandon(hold, stored_reason(ApplyReason.CONNECTIONS_LOST, error=str(lost)), clock())
        hold.renew(clock())
        try:
            ports = reconnect()
        except CannotGoOn as reason:
            return abandon(hold, str(reason), clock())
        reset = _read(reset.pk)
        note_work(reset, stored_reason(ResetAct.RECONNECTED), clock())


def _read(reset_id: UUID) -> Reset:
    return Reset.objects.select_related("group").get(pk=reset_id)


class _Work:
    """`late`: why nothing more may be written; null where writing is allowed."""

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
        """Why nothing (more) was written; null where all writes were tried."""
        in_doubt = [row for row in rows if row.step == ResetStep.WRITING]
        group, against = self._reset.group, self._late or why_not_written(self._reset.pk)
        if group is None or against:
            doubt(in_doubt, self._clock())
            self._save(in_doubt)
            return stored_reason(ApplyReason.STOPPED, why=against or GONE)
        fresh = self._look(group, rows)
        settle(in_doubt, fresh)
        self._save(in_doubt)
        waiting = [row for row in rows if row.step == ResetStep.PLANNED]
        if moved := what_moved(self._reset, waiting, fresh, settings.RESET_TOLERANCE_MESSAGES):
            self._stop(waiting, moved)
            return MOVED
        to_write = [row for row in waiting if row.method != ResetMethod.NOTHING]
        try:
            Writing(self._reset, self._ports, self._hold, self._clock).write(to_write)
        except MayNotWrite as against:
            return stored_reason(ApplyReason.STOPPED, why=str(against))
        return None

    def _look(self, group: ConsumerGroup, rows: Sequence[ResetQueue]) -> GroupSetup:
        keys, known, now = [QueueKey.of(row) for row in rows], known_of(group), self._clock()
        ports = self._ports
        return keep_alive(self._hold, self._clock, lambda: ports.wire.run(gather(ports, group.name, keys, known, now)))

    def _save(self, rows: Sequence[ResetQueue]) -> None:
        with transaction.atomic():
            self._hold.renew(self._clock())
            ResetQueue.objects.bulk_update(rows, FIELDS)

    def _stop(self, waiting: Sequence[ResetQueue], moved: list[str]) -> None:
        """Queues that are already at their target are not touched, and are not read back either."""
        with transaction.atomic():
            self._hold.renew(self._clock())
            waiting_now = ResetQueue.objects.filter(pk__in=[row.pk for row in waiting])
            waiting_now.update(step=ResetStep.NOT_DONE, error=stored_reason(ApplyReason.SEE_MOVED))
            Reset.objects.filter(pk=self._reset.pk).update(moved=moved)

    def _to_be_written(self) -> list[ResetQueue]:
        """Includes queues at their target while nothing is written: they are part of the plan."""
        waiting = ResetQueue.objects.filter(reset=self._reset, left_out=None)
        rows = list(waiting.filter(step__in=(ResetStep.PLANNED, ResetStep.WRITING)))
        if self._is_touched() or any(row.step == ResetStep.WRITING for row in rows):
            return [row for row in rows if row.method != ResetMethod.NOTHING]
        return rows

    def _is_touched(self) -> bool:
        written = (ResetStep.WRITTEN, ResetStep.UNANSWERED)
        return ResetQueue.objects.filter(reset=self._reset, step__in=written).exists()


def run(reset_id: UUID, clock: Clock, pause: Pause) -> None:
    """Ends the reset at once where its cluster cannot be reached."""
    name = Reset.objects.get(pk=reset_id).cluster_name
    try:
        cluster, ports = _ports(name)
    except CannotGoOn as reason:
        return _give_up(reset_id, str(reason), clock)
    work(reset_id, ports, clock, pause, lambda: _again(cluster))


def _ports(name: str) -> tuple[Cluster, Ports]:
    """Raises CannotGoOn."""
    try:
        cluster = Cluster.objects.get(name=name)
        return cluster, Ports.of(cluster, connected(cluster), settings.POLL_CALL_DEADLINE_SECONDS)
    except Cluster.DoesNotExist:
        raise CannotGoOn(stored_reason(ApplyReason.CLUSTER_GONE, cluster=name)) from None
    except (NoAccess, WireClosed) as reason:
        raise CannotGoOn(str(reason)) from None


def _again(before: Cluster) -> Ports:
    """Ports to the same cluster, which may need another key by now. Raises CannotGoOn."""
    cluster, ports = _ports(before.name)
    if not set(cluster.name_servers) & set(before.name_servers):
        raise CannotGoOn(stored_reason(ApplyReason.CLUSTER_CHANGED, cluster=before.name))
    return ports


def _give_up(reset_id: UUID, reason: str, clock: Clock) -> None:
    logger.error("The reset %s ends: %s", reset_id, stored_words(reason))
    try:
        abandon(Hold.take(Reset, reset_id, ResetStatus.APPLYING, clock()), reason, clock())
    except NotHeld as other:
        logger.info("%s", other)


# Ends a reset whose cluster cannot be reached at all.

MAYBE_MOVED = (ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED)


def abandon(hold: Hold, reason: str, now: datetime) -> None:
    """Queues that may have been moved become UNKNOWN, and the rest was not done. Raises NotHeld."""
    with transaction.atomic():
        hold.renew(now)
        maybe = ResetQueue.objects.filter(reset=hold.pk, left_out=None, step__in=MAYBE_MOVED)
        evidence = stored_reason(ReadBackEvidence.UNREADABLE_BACK, why=reason)
        maybe.update(step=ResetStep.READ_BACK, outcome=ResetOutcome.UNKNOWN, evidence=evidence)
        finish(hold, reason, now)


# Ends resets that kill one worker after the other: otherwise their group could never be reset again.

TRIED_FOR = timedelta(hours=1)
# A user resumed it lately: a reset that only waited for workers deserves its attempt.
LATELY = timedelta(minutes=5)
REASON = stored_reason(ApplyReason.GAVE_UP)


def give_up_hopeless(now: datetime) -> int:
    """Returns how many there were."""
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
