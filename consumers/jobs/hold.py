"""Which worker runs a job: the one that renews `working_at` in the job's row.

The mark is replaced only by who knows the last one, so that a worker that was taken for dead finds out before it does
another thing. The clock is that of the workers; they must agree to within some seconds.
"""

import sqlite3
from datetime import datetime, timedelta
from typing import Generic, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import Model, Q

# An own mark that is older is renewed before anything is sent.
FRESH = timedelta(seconds=10)
# A worker that was not seen for so long is taken for dead, and for longer where calls may take long.
LEAST_STALE = timedelta(seconds=30)
# Between two marks a worker makes so many calls in a row: for a dead letter, the route and the end of its target.
CALLS_BETWEEN_MARKS = 3
SPARE = timedelta(seconds=5)


def stale_after() -> timedelta:
    """A mark that is older is a dead worker's: a fresh one, with the deadlines of what it waits for on top, is not."""
    calls = timedelta(seconds=CALLS_BETWEEN_MARKS * settings.POLL_CALL_DEADLINE_SECONDS)
    return max(LEAST_STALE, FRESH + calls + SPARE)


Key = TypeVar("Key", UUID, int)


class NotHeld(Exception):
    """Another worker has the job, or it does not run (any more)."""


class Hold(Generic[Key]):
    """Of the row `pk` of `model`, which runs as long as its `status` is `running`; for as long as it exists if None."""

    def __init__(self, model: type[Model], pk: Key, running: str | None, at: datetime) -> None:
        self._rows = model._default_manager.filter(pk=pk)
        if running is not None:
            self._rows = self._rows.filter(status=running)
        self._name = f"The {model._meta.verbose_name} {pk}"
        self.pk: Key = pk
        self.at = at

    @classmethod
    def take(
        cls, model: type[Model], pk: Key, running: str | None, now: datetime, stale: timedelta | None = None
    ) -> "Hold[Key]":
        """`stale`: older marks are of the dead; null: `stale_after`. Raises NotHeld."""
        hold = cls(model, pk, running, now)
        free = Q(working_at=None) | Q(working_at__lt=now - (stale or stale_after()))
        if not hold._rows.filter(free).update(working_at=now):
            raise NotHeld(f"{hold._name} does not run, or another worker has it.")
        return hold

    def renew(self, now: datetime) -> None:
        """Raises NotHeld: whoever does must not send anything, nor write what became of it."""
        if not self._rows.filter(working_at=self.at).update(working_at=now):
            raise NotHeld(f"{self._name} was taken over by another worker.")
        self.at = now

    def leave(self) -> None:
        """Whoever comes next need not wait. Nothing happens where another worker has taken over."""
        self._rows.filter(working_at=self.at).update(working_at=None)

    def renew_if_old(self, now: datetime) -> None:
        if now - self.at > FRESH:
            self.renew(now)


def left_behind(model: type[Model], running: str, now: datetime) -> list[UUID]:
    """Running jobs that no living worker has: never taken up, or whose worker was not seen for a while."""
    long_ago = now - stale_after()
    lost = Q(working_at=None, started_at__lt=long_ago) | Q(working_at__lt=long_ago)
    rows = model._default_manager.filter(lost, status=running).order_by("started_at")
    return list(rows.values_list("pk", flat=True))


# SQLite: busy, locked, a disk that fails or is full, a file that cannot be opened. Extended codes have these as their
# lowest byte.
SQLITE_AWAY = frozenset({5, 6, 10, 13, 14})
# Classes of PostgreSQL: connection, transaction taken back, resources, somebody else's hold or end of it, system.
POSTGRES_AWAY = ("08", "40", "53", "55", "57", "58")


def is_database_away(error: BaseException | None) -> bool:
    """Drivers raise the same errors for questions that make no sense, so that the code of the cause decides."""
    cause = error.__cause__ if isinstance(error, (OperationalError, InterfaceError)) else None
    if cause is None:
        return False
    if isinstance(cause, sqlite3.Error):
        return (getattr(cause, "sqlite_errorcode", 0) & 0xFF) in SQLITE_AWAY
    # Without a connection nobody was there to give a state.
    state = getattr(cause, "sqlstate", None)
    return state is None or state.startswith(POSTGRES_AWAY)
