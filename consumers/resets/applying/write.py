"""Writes offsets, after checking that the permissions at the start still apply."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from django.conf import settings
from django.db import transaction

from consumers.jobs.hold import BEAT_SECONDS, Hold, Ports, keep_alive, read_only_reason
from consumers.jobs.permissions import may
from consumers.models import Reset, ResetKind, ResetMethod, ResetQueue, ResetStep
from consumers.polling.registration import WireClosed
from consumers.resets.methods import why_offset_moved
from consumers.resets.planning.gather import Master
from consumers.resets.request import MAY_RESET, TAKEN_UP_WITHIN
from consumers.resets.reset_targets import TARGETS
from consumers.rocketmq.wire.codes import BrokerRefused, ResponseCode, RocketMQError
from consumers.rocketmq.writes import NotApplied
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import ApplyReason

GONE = stored_reason(ApplyReason.GROUP_GONE)


def why_not_written(reset_id: UUID) -> str | None:
    """A stored reason; null where offsets may be written. Some queries: earlier checks are not trusted."""
    reset = Reset.objects.select_related("applied_by").get(pk=reset_id)
    if against := read_only_reason(reset.cluster_name):
        return against
    if reset.group_id is None:
        return GONE
    name = reset.applied_by_name or "somebody"
    if reset.applied_by is None:
        return stored_reason(ApplyReason.ACCOUNT_GONE, user=name)
    if not may(reset.applied_by, MAY_RESET, reset.cluster_name):
        lost = {"permission": MAY_RESET, "cluster": reset.cluster_name}
        return stored_reason(ApplyReason.PERMISSION_LOST, user=name, **lost)
    return None


def why_too_late(reset: Reset, now: datetime) -> str | None:
    """`reset` is its state before this worker took it up. Null where a worker has worked on it recently."""
    since = reset.working_at or reset.started_at
    if since is None or now - since <= TAKEN_UP_WITHIN:
        return None
    minutes = int(TAKEN_UP_WITHIN.total_seconds() // 60)
    return stored_reason(ApplyReason.TOO_LATE, minutes=minutes)


# Tells a broker the new offsets of a queue, or of all queues of a topic there. The result is set in their rows,
# unsaved.
# Nothing is repeated: setting the same absolute offset twice may replay messages twice.


def tell(ports: Ports, reset: Reset, rows: Sequence[ResetQueue]) -> RocketMQError | None:
    """`rows` belong to one call: one row, or those of one topic at one broker where members are told by time.

    Null where the broker answered that it did it. The caller sets `written_at`.
    """
    try:
        answered = ports.wire.run(_call(ports, reset, rows[0]))
    except RocketMQError as error:
        for row in rows:
            _note_failure(row, error)
        return error
    for row in rows:
        row.answered = answered.get(row.queue_id)
        if row.method == ResetMethod.COMMIT or row.answered is not None:
            row.step, row.error = ResetStep.WRITTEN, None
        else:
            row.step, row.error = ResetStep.UNANSWERED, stored_reason(ApplyReason.ANSWER_WITHOUT_QUEUE)
    return None


async def _call(ports: Ports, reset: Reset, row: ResetQueue) -> dict[int, int]:
    """The offsets that the answer names, by queue id; a commit's answer names none."""
    broker, seconds = ports.writes(row.broker), ports.deadline_seconds
    group, topic, queue_id = reset.group_name, row.topic, row.queue_id
    if row.method == ResetMethod.CLIENT:
        return await broker.reset_by_time(group, topic, time_ms_of(reset), deadline_seconds=seconds)
    if row.target is None:
        raise ValueError(f"{row} has no target")
    if row.method == ResetMethod.SERVER:
        return {queue_id: await broker.reset_exact(group, topic, queue_id, row.target, deadline_seconds=seconds)}
    if row.method == ResetMethod.COMMIT:
        await broker.commit(group, topic, queue_id, row.target, deadline_seconds=seconds)
        return {}
    raise ValueError(f"{row} is not written: its method is {row.method}")


def time_ms_of(reset: Reset) -> int:
    """The time for members where the broker moves nothing itself: they accept no target but a time."""
    notified_as_ms = TARGETS[ResetKind(reset.kind)].notified_as_ms
    if notified_as_ms is not None:
        return notified_as_ms(reset.value)
    raise ValueError(f"a target of the kind {reset.kind} cannot be told to members by time")


def _note_failure(row: ResetQueue, error: RocketMQError) -> None:
    if _has_changed_nothing(row, error):
        row.step, row.error = ResetStep.FAILED, str(error)
    else:
        row.step, row.error = ResetStep.UNANSWERED, stored_reason(ApplyReason.MAYBE_MOVED, error=str(error))


def _has_changed_nothing(row: ResetQueue, error: RocketMQError) -> bool:
    """A broker notifies members one after the other and refuses at the first that is too old, when it may have notified
    others (5.1.4, Broker2Client.resetOffset)."""
    if isinstance(error, BrokerRefused):
        return row.method != ResetMethod.CLIENT or error.code != ResponseCode.SYSTEM_ERROR
    return error.never_sent or isinstance(error, NotApplied)


# The present offsets right before writing: a rollback returns to them, and a queue that moved too far is not written.


@dataclass(frozen=True)
class LeftAlone:
    """`reason` is a stored one. `error`: the error of reading, where that is the reason."""

    reason: str
    error: RocketMQError | None = None


async def look_before(ports: Ports, group: str, rows: Sequence[ResetQueue]) -> list[int | RocketMQError | None]:
    """In the order of `rows`, of one broker; null: nothing is committed there. Once it is silent, it is asked no more:
    where members are told by time, these are all queues of many topics.
    """
    broker = Master(rows[0].broker, ports.known(rows[0].broker), ports.deadline_seconds)

    async def look(row: ResetQueue) -> int | RocketMQError | None:
        place = (row.topic, row.queue_id)
        try:
            return await broker.ask(lambda admin, within: admin.consumer_offset(group, *place, deadline_seconds=within))
        except RocketMQError as error:
            return error

    return list(await asyncio.gather(*(look(row) for row in rows)))


def is_there_by_itself(row: ResetQueue, current: int | RocketMQError | None) -> bool:
    """The queue has nothing left to skip. Does not apply where members are told all queues of a topic at once."""
    if row.method == ResetMethod.CLIENT or row.now_offset is None or row.target is None or not isinstance(current, int):
        return False
    return row.now_offset < row.target <= current


def why_left_alone(row: ResetQueue, current: int | RocketMQError | None, tolerance: int) -> LeftAlone | None:
    """Null where the queue may be written as planned."""
    if isinstance(current, RocketMQError):
        return LeftAlone(stored_reason(ApplyReason.BEFORE_UNREAD, error=str(current)), current)
    if moved := why_offset_moved(row, current, tolerance):
        return LeftAlone(stored_reason(ApplyReason.LEFT_ALONE, why=moved))
    return None


Clock = Callable[[], datetime]
Call = list[ResetQueue]

# So many calls are checked together before the first of them is written.
LOOKED_AT = 16
# After so many missing answers in a row, the rest of the broker's queues is not tried.
SILENT_IN_A_ROW = 3
SENT = (ResetStep.WRITTEN, ResetStep.UNANSWERED)
FIELDS = ["step", "before", "before_at", "written_at", "answered", "error"]


class Silent(Exception):
    """str() is a stored reason: the broker is not tried again."""


class MayNotWrite(Exception):
    """str() is a stored reason: a permission from the start is missing now."""


class Writing:
    def __init__(
        self, reset: Reset, ports: Ports, hold: Hold, clock: Clock, *, beat_seconds: float = BEAT_SECONDS
    ) -> None:
        self._reset, self._ports, self._hold, self._clock = reset, ports, hold, clock
        self._beat_seconds = beat_seconds
        self._silences = 0

    def write(self, rows: Sequence[ResetQueue]) -> None:
        """Each of `rows` is WRITTEN, UNANSWERED, FAILED or NOT_DONE afterwards.

        Raises NotHeld; nothing was told to a broker or written since the cause. Raises MayNotWrite or WireClosed: the
        remaining rows are unchanged, and after WireClosed they may be written through another wire.
        """
        for broker, there in groupby(sorted(rows, key=_place), key=lambda row: row.broker):
            self._silences = 0
            queues = list(there)
            try:
                self._write_at(broker, queues)
            except Silent as reason:
                self._leave(queues, str(reason))

    def _write_at(self, broker: str, rows: Sequence[ResetQueue]) -> None:
        if broker not in self._ports.addresses:
            raise Silent(stored_reason(ApplyReason.NO_BROKER_ADDRESS, broker=broker))
        calls = list(calls_of(rows))
        for start in range(0, len(calls), LOOKED_AT):
            together = calls[start : start + LOOKED_AT]
            if against := why_not_written(self._reset.pk):
                raise MayNotWrite(against)
            left_alone = self._look([row for call in together for row in call])
            for call in together:
                if call[0].method != ResetMethod.NOTHING:
                    self._make(call, left_alone)

    def _look(self, rows: Sequence[ResetQueue]) -> dict[int, LeftAlone]:
        """By row, those that must not be written. Sets the present offsets of the others."""
        self._hold.renew_if_old(self._clock())
        ports, group = self._ports, self._reset.group_name
        current = keep_alive(
            self._hold,
            self._clock,
            lambda: ports.wire.run(look_before(ports, group, rows)),
            beat_seconds=self._beat_seconds,
        )
        now, left_alone = self._clock(), {}
        for row, there in zip(rows, current, strict=True):
            if not isinstance(there, RocketMQError):
                row.before, row.before_at = there, now
            if why := why_left_alone(row, there, settings.RESET_TOLERANCE_MESSAGES):
                left_alone[row.pk] = why
            elif is_there_by_itself(row, there):
                row.method = ResetMethod.NOTHING
        if there_already := [row for row in rows if row.method == ResetMethod.NOTHING]:
            self._save(there_already, ["method", "before", "before_at"])
        return left_alone

    def _make(self, call: Call, left_alone: Mapping[int, LeftAlone]) -> None:
        if against := next((left_alone[row.pk] for row in call if row.pk in left_alone), None):
            for row in call:
                why = left_alone.get(row.pk)
                row.step = ResetStep.FAILED
                row.error = why.reason if why else stored_reason(ApplyReason.OTHER_LEFT_ALONE, why=against.reason)
            self._save(call, FIELDS)
            return self._count(call[0].broker, against.error)
        for row in call:
            row.step = ResetStep.WRITING
        self._save(call, FIELDS)
        # The process may have been suspended, as on a sleeping laptop: its records may belong to another worker by now.
        self._hold.renew_if_old(self._clock())
        error = tell(self._ports, self._reset, call)
        sent_at = self._clock()
        for row in call:
            if isinstance(error, WireClosed) and error.never_sent:
                # The queue is fine: it waits for another wire.
                row.step, row.error = ResetStep.PLANNED, None
            row.written_at = sent_at if row.step in SENT else None
        self._save(call, FIELDS)
        if isinstance(error, WireClosed):
            raise error
        self._count(call[0].broker, error)

    def _count(self, broker: str, error: RocketMQError | None) -> None:
        """Raises Silent. A broker that refuses does answer."""
        is_silent = error is not None and not isinstance(error, (BrokerRefused, NotApplied))
        self._silences = self._silences + 1 if is_silent else 0
        if self._silences >= SILENT_IN_A_ROW:
            values = {"broker": broker, "times": self._silences, "error": str(error)}
            raise Silent(stored_reason(ApplyReason.BROKER_GAVE_UP, **values))

    def _save(self, rows: Sequence[ResetQueue], fields: Sequence[str]) -> None:
        with transaction.atomic():
            self._hold.renew(self._clock())
            ResetQueue.objects.bulk_update(rows, fields)

    def _leave(self, rows: Sequence[ResetQueue], reason: str) -> None:
        left = [row for row in rows if row.step == ResetStep.PLANNED]
        for row in left:
            row.step, row.error = ResetStep.NOT_DONE, stored_reason(ApplyReason.NOT_TRIED, why=reason)
        self._save(left, ["step", "error"])


def calls_of(rows: Sequence[ResetQueue]) -> Iterator[Call]:
    """One call for each row, or for each topic where members are told by time. `rows` are of one broker, sorted by
    topic.
    """
    by_time = [row for row in rows if row.method == ResetMethod.CLIENT]
    yield from ([row] for row in rows if row.method != ResetMethod.CLIENT)
    yield from (list(call) for _, call in groupby(by_time, key=lambda row: row.topic))


def _place(row: ResetQueue) -> tuple[str, str, int]:
    return row.broker, row.topic, row.queue_id
