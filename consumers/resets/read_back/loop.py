"""Reads back what was written until each queue is settled, and keeps what was read, so that another worker goes on."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from consumers.errands.hold import Hold
from consumers.errands.ports import Ports
from consumers.models import Reset, ResetMethod, ResetQueue, ResetStep
from consumers.resets.applying.keep_alive import keep_alive
from consumers.resets.wish import QueueKey

from .ask import Round, Unread, ask
from .case import Written
from .outcome import Verdict, outcome_of
from .patience import timing_of
from .present import Present
from .series import Series, restored, saved, seconds_between

Clock = Callable[[], datetime]
Pause = Callable[[float], None]

SOON_SECONDS, LATER_SECONDS = 1.0, 2.0
# So long it is read at the quicker pace: the shortest stops of an offset come early.
QUICK_SECONDS = 30.0
# Each queue's latest reading is kept so often, also where it shows nothing else.
KEPT_SECONDS = 5.0
FIELDS = ["step", "readings", "after", "after_at", "outcome", "evidence"]
AT_ONCE = 500


def read_back(reset: Reset, ports: Ports, hold: Hold, clock: Clock, pause: Pause) -> None:
    """All queues of it that were written, or may have been, and those that stood there. Raises NotHeld."""
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
        told = {key for key in self._rows if self._note(key, found, now)}
        self._save([self._rows[key] for key in told], now)
        self._rows = {key: row for key, row in self._rows.items() if row.outcome is None}

    def _note(self, key: QueueKey, found: Round, now: datetime) -> bool:
        """Whether there is something that was not kept before."""
        row, before = self._rows[key], self._series[key]
        offset = found.offsets[key]
        after = before.failed(offset.error) if isinstance(offset, Unread) else before.read(now, offset)
        self._series[key] = after
        verdict = outcome_of(written(row, self._began), after, self._present, self._timing, now)
        fill(row, after, verdict)
        return verdict is not None or len(after.changes) > len(before.changes)

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
    """`began`: when reading back began, for a queue of which no time of writing is known: none was written.

    Members can be told a time only. What their broker made of it then is where they go, not what the plan foresaw.
    """
    if row.target is None or row.method is None:
        raise ValueError(f"queue {row.pk} of reset {row.reset_id} has no target, and cannot have been written")
    told = row.answered if row.method == ResetMethod.CLIENT else None
    return Written(
        method=ResetMethod(row.method),
        answered=row.step == ResetStep.WRITTEN,
        before=row.now_offset if row.method == ResetMethod.NOTHING else row.before,
        target=row.target if told is None else told,
        at=row.written_at or row.before_at or began,
    )


def fill(row: ResetQueue, series: Series, verdict: Verdict | None) -> None:
    row.readings = saved(series)
    row.after_at = series.last_at
    row.after = series.last if series.changes else None
    if verdict is not None:
        row.step, row.outcome, row.evidence = ResetStep.READ_BACK, verdict.outcome, verdict.evidence


def _to_read(reset: Reset) -> Iterable[ResetQueue]:
    told = Q(step__in=(ResetStep.WRITTEN, ResetStep.UNANSWERED))
    stood_there = Q(method=ResetMethod.NOTHING, step=ResetStep.PLANNED)
    return ResetQueue.objects.filter(told | stood_there, reset=reset, left_out=None)
