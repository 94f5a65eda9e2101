"""Reads back what was written until each queue is settled, and stores the readings, so that another worker can
continue.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from consumers.jobs.hold import Hold, Ports, keep_alive
from consumers.models import Client, Reset, ResetMethod, ResetQueue, ResetStep
from consumers.resets.applying.case import Present, Series, Timing, Written, restored, saved, seconds_between
from consumers.resets.applying.outcome import ARRIVAL_SECONDS, LONG_POLL_SECONDS, SettledOutcome, outcome_of
from consumers.resets.planning.gather import Masters, Membership, membership
from consumers.resets.target_values import QueueKey
from consumers.rocketmq.bodies.fields import count_of
from consumers.rocketmq.wire.codes import RocketMQError
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import ReadBackEvidence

# One round of reading back: each queue's offset and the group's members, from all masters at once.


@dataclass(frozen=True)
class Unread:
    error: str


@dataclass(frozen=True)
class Round:
    """By queue: its offset, null where it has no commit."""

    offsets: Mapping[QueueKey, int | Unread | None]
    members: Membership


async def ask(ports: Ports, group: str, keys: Sequence[QueueKey]) -> Round:
    masters = Masters(ports)
    asked = asyncio.gather(*(_offset(masters, group, key) for key in keys))
    members, offsets = await asyncio.gather(membership(ports, masters, group), asked)
    return Round(dict(zip(keys, offsets, strict=True)), members)


async def _offset(masters: Masters, group: str, key: QueueKey) -> int | Unread | None:
    master = masters.get(key.broker)
    if master is None:
        return Unread(stored_reason(ReadBackEvidence.NO_MASTER_SEEN, broker=key.broker))
    try:
        return await master.ask(
            lambda admin, within: admin.consumer_offset(group, key.topic, key.queue_id, deadline_seconds=within)
        )
    except RocketMQError as error:
        return Unread(str(error))


# How long the queues of a reset are read back, depending on who must follow and how often members commit.

COMMIT_SECONDS = 5.0
COMMIT_SETTING = "persistConsumerOffsetInterval"
# A member that is told pauses for so long, for one topic of one broker after the other.
TOLD_SECONDS = 10.0
# Whatever members are set to: others wait for the worker too.
LONGEST_SECONDS = 180.0
# So that what is about to settle does.
SPARE_SECONDS = 5.0


def timing_of(reset: Reset, rows: Sequence[ResetQueue], since: datetime) -> Timing:
    """`since`: when reading back begins, after all writes."""
    commit = commit_seconds(reset)
    calls = len({(row.topic, row.broker) for row in rows if row.method == ResetMethod.CLIENT})
    notified_seconds = TOLD_SECONDS * calls + commit
    settled = settings.RESET_SETTLED_SECONDS
    pulls = LONG_POLL_SECONDS + commit if (reset.seen or {}).get("members") else 0.0
    late = ARRIVAL_SECONDS if any(row.step == ResetStep.UNANSWERED for row in rows) else 0.0
    needed = max(pulls, late, notified_seconds if calls else 0.0) + settled + SPARE_SECONDS
    seconds = max(settings.RESET_READ_BACK_SECONDS, min(needed, LONGEST_SECONDS))
    return Timing(settled, since + timedelta(seconds=seconds), commit, notified_seconds)


def commit_seconds(reset: Reset) -> float:
    """That of the group's slowest member, as reported; RocketMQ's default where no member reported it."""
    settings = Client.objects.filter(group=reset.group_id, gone_by=None).values_list("settings", flat=True)
    reported = [count_of((one or {}).get(COMMIT_SETTING)) for one in settings]
    return max((milliseconds / 1000 for milliseconds in reported if milliseconds is not None), default=COMMIT_SECONDS)


Clock = Callable[[], datetime]
Pause = Callable[[float], None]

SOON_SECONDS, LATER_SECONDS = 1.0, 2.0
# For so long queues are read at a faster pace: short stops of an offset come early.
QUICK_SECONDS = 30.0
# How often each queue's latest reading is stored, even without a change.
KEPT_SECONDS = 5.0
FIELDS = ["step", "readings", "after", "after_at", "outcome", "evidence"]
AT_ONCE = 500


def read_back(reset: Reset, ports: Ports, hold: Hold, clock: Clock, pause: Pause) -> None:
    """Reads all queues that were written, or may have been, and those that were at the target. Raises NotHeld."""
    rows = list(_to_read(reset))
    if rows:
        _ReadBack(reset, rows, ports, hold, clock).to_the_end(pause)


class _ReadBack:
    def __init__(self, reset: Reset, rows: list[ResetQueue], ports: Ports, hold: Hold, clock: Clock) -> None:
        self._group, self._ports, self._hold, self._clock = reset.group_name, ports, hold, clock
        self._rows = {QueueKey.of(row): row for row in rows}
        self._series = {key: restored(row.readings, row.after_at) for key, row in self._rows.items()}
        self._present = Present.at_apply((reset.seen or {}).get("members"))
        self._began = self._kept_at = clock()
        self._timing = timing_of(reset, rows, self._began)

    def to_the_end(self, pause: Pause) -> None:
        while True:
            self._round()
            if not self._rows:
                return
            quick = seconds_between(self._began, self._clock()) < QUICK_SECONDS
            pause(SOON_SECONDS if quick else LATER_SECONDS)

    def _round(self) -> None:
        ports, keys = self._ports, list(self._rows)
        found = keep_alive(self._hold, self._clock, lambda: ports.wire.run(ask(ports, self._group, keys)))
        now = self._clock()
        self._present = self._present.look(now, found.members)
        noted = {key for key in self._rows if self._note(key, found, now)}
        self._save([self._rows[key] for key in noted], now)
        self._rows = {key: row for key, row in self._rows.items() if row.outcome is None}

    def _note(self, key: QueueKey, found: Round, now: datetime) -> bool:
        """Returns whether there is something that was not stored before."""
        row, before = self._rows[key], self._series[key]
        offset = found.offsets[key]
        after = before.failed(offset.error) if isinstance(offset, Unread) else before.read(now, offset)
        self._series[key] = after
        settled = outcome_of(written(row, self._began), after, self._present, self._timing, now)
        fill(row, after, settled)
        return settled is not None or len(after.changes) > len(before.changes)

    def _save(self, rows: Sequence[ResetQueue], now: datetime) -> None:
        is_due = seconds_between(self._kept_at, now) >= KEPT_SECONDS
        with transaction.atomic():
            self._hold.renew(now)
            if is_due:
                self._keep_times(now)
            # As an upsert: of some thousand rows it costs an eighth of what bulk_update does.
            ResetQueue.objects.bulk_create(
                rows, update_conflicts=True, unique_fields=["id"], update_fields=FIELDS, batch_size=AT_ONCE
            )
        self._kept_at = now if is_due else self._kept_at

    def _keep_times(self, now: datetime) -> None:
        """Of those that were read where they were before: all else of them is kept already."""
        read = [row.pk for row in self._rows.values() if row.after_at == now]
        for start in range(0, len(read), AT_ONCE):
            ResetQueue.objects.filter(pk__in=read[start : start + AT_ONCE]).update(after_at=now)


def written(row: ResetQueue, began: datetime) -> Written:
    """`began`: when reading back began, for a queue without a time of writing: none was written. Members are sent a
    time only. They go where their broker's answer says, not where the plan expected."""
    if row.target is None or row.method is None:
        raise ValueError(f"queue {row.pk} of reset {row.reset_id} has no target, and cannot have been written")
    answered = row.answered if row.method == ResetMethod.CLIENT else None
    return Written(
        method=ResetMethod(row.method),
        answered=row.step == ResetStep.WRITTEN,
        before=row.now_offset if row.method == ResetMethod.NOTHING else row.before,
        target=row.target if answered is None else answered,
        at=row.written_at or row.before_at or began,
        before_at=row.before_at,
    )


def fill(row: ResetQueue, series: Series, settled: SettledOutcome | None) -> None:
    row.readings = saved(series)
    row.after_at = series.last_at
    row.after = series.last if series.changes else None
    if settled is not None:
        row.step, row.outcome, row.evidence = ResetStep.READ_BACK, settled.outcome, settled.evidence


def _to_read(reset: Reset) -> Iterable[ResetQueue]:
    was_written = Q(step__in=(ResetStep.WRITTEN, ResetStep.UNANSWERED))
    stood_there = Q(method=ResetMethod.NOTHING, step=ResetStep.PLANNED)
    return ResetQueue.objects.filter(was_written | stood_there, reset=reset, left_out=None)
