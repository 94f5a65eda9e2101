"""Compares the clock of this machine with its uptime, and puts right what a clock that was ahead has recorded.

Every worker calls it before it works, so that a clock that was set is noticed within seconds. Nothing is believed of
which time is the right one: what matters is that all that is recorded goes one way.
"""

import contextlib
import logging
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
from django.conf import settings
from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from consumers.lake.retention import set_future_aside
from consumers.lake.store import Lake
from consumers.models import AlertEngine, ClockChange, Doubt, GroupState, MachineClock, PipelineRun, Reading
from consumers.polling.locks import Locked, lock
from consumers.queries.limits import CLOCKS_DIFFER

from .future_rows import put_right

# What this machine's two clocks show: the time, which somebody may set, and the uptime, which nobody can.

BOOT_ID, TIME_NAMESPACE = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/time")


@dataclass(frozen=True)
class Machine:
    """`boot`: within one, uptimes of all processes can be compared."""

    boot: str
    name: str
    clock: Callable[[], datetime]
    uptime: Callable[[], float]


def this_machine() -> Machine:
    name = socket.gethostname()
    try:
        # A container may have an uptime of its own.
        boot = f"{BOOT_ID.read_text().strip()}-{TIME_NAMESPACE.stat().st_ino}"
    except OSError:
        # Elsewhere than on Linux no boot has a name: each process watches for itself.
        return Machine(f"{name}-{os.getpid()}", name, timezone.now, time.monotonic)
    # It counts while the machine is suspended, as the clock does.
    return Machine(boot, name, timezone.now, lambda: time.clock_gettime(time.CLOCK_BOOTTIME))


logger = logging.getLogger(__name__)

# Each watch is a write.
EVERY_SECONDS = 10.0
# What is recorded ahead of this clock, and stays where it is for so long, is recorded by no other machine.
STANDS_SECONDS = 60.0
# A machine that was off for so long comes back with a clock that nobody has watched.
LONGEST_GAP = timedelta(days=1)
LOCK_SECONDS = 300.0


def watch_clock() -> None:
    """That of this machine, before anything is done that notes the time."""
    watch(this_machine(), Lake.at(settings.CONSUMERSCOPE_LAKE))


def watch(machine: Machine, lake: Lake) -> None:
    known = MachineClock.objects.filter(boot=machine.boot).first()
    now, uptime = machine.clock(), machine.uptime()
    if known is not None and abs(_jump(known, now, uptime)) <= CLOCKS_DIFFER:
        if uptime - known.uptime_seconds >= EVERY_SECONDS:
            _note(known, machine, lake, now, uptime)
        return
    try:
        with lock("clock", LOCK_SECONDS):
            _begin(machine) if known is None else _changed(known.boot, machine, lake)
    except Locked:
        logger.info("Another process puts right what a changed clock has recorded.")


def _jump(known: MachineClock, now: datetime, uptime: float) -> timedelta:
    return now - known.seen_at - timedelta(seconds=uptime - known.uptime_seconds)


def _begin(machine: Machine) -> None:
    """A machine that was watched until a day ago, or another one that was, says that its clock is trusted as before."""
    now, uptime = machine.clock(), machine.uptime()
    last = MachineClock.objects.order_by("-seen_at").first()
    steady, doubt, doubt_at = 0.0, Doubt.NEW, now
    if last is not None and now - last.seen_at > LONGEST_GAP:
        doubt = Doubt.GAP
    elif last is not None and last.seen_at - now <= CLOCKS_DIFFER:
        steady, doubt, doubt_at = last.steady_seconds, Doubt(last.doubt), last.doubt_at
    MachineClock.objects.filter(seen_at__lt=now - LONGEST_GAP).delete()
    MachineClock.objects.get_or_create(
        boot=machine.boot,
        defaults={
            "name": machine.name,
            "seen_at": now,
            "uptime_seconds": uptime,
            "steady_seconds": steady,
            "doubt": doubt,
            "doubt_at": doubt_at,
        },
    )


def _note(known: MachineClock, machine: Machine, lake: Lake, now: datetime, uptime: float) -> None:
    mine = MachineClock.objects.filter(boot=known.boot, uptime_seconds=known.uptime_seconds)
    steady = F("steady_seconds") + (uptime - known.uptime_seconds)
    if not mine.update(seen_at=now, uptime_seconds=uptime, steady_seconds=steady):
        return  # another process was first
    # Nobody knows which of two clocks is right. The one that is ahead would delete too much.
    others = MachineClock.objects.exclude(boot=known.boot).filter(seen_at__gt=now + CLOCKS_DIFFER)
    if others.update(steady_seconds=0, doubt=Doubt.DIFFERS, doubt_at=now):
        logger.error("The clocks of two machines differ by more than %s: set them alike.", CLOCKS_DIFFER)
    _finish(lake, now)
    _look_ahead(known, machine, lake, now, uptime)


def _look_ahead(known: MachineClock, machine: Machine, lake: Lake, now: datetime, uptime: float) -> None:
    """The clock may have been set while the machine was off, or on another machine that is no more."""
    mine, newest = MachineClock.objects.filter(boot=known.boot), newest_recorded()
    if newest is None or newest - now <= CLOCKS_DIFFER:
        if known.ahead_until is not None:
            mine.update(ahead_until=None, ahead_uptime_seconds=None)
    elif newest != known.ahead_until or known.ahead_uptime_seconds is None:
        mine.update(ahead_until=newest, ahead_uptime_seconds=uptime)
    elif uptime - known.ahead_uptime_seconds >= STANDS_SECONDS:
        try:
            with lock("clock", LOCK_SECONDS):
                _put_right(known, lake, now, uptime, now - newest, measured=False, name=machine.name)
        except Locked:
            logger.info("Another process puts right what a changed clock has recorded.")


def _set_aside(lake: Lake, now: datetime) -> int | None:
    """Null where the lake does not take it: rules are to be evaluated all the same."""
    try:
        return set_future_aside(lake, now)
    except (OSError, pa.ArrowException):
        logger.exception("History of times that have yet to come could not be set aside; it is tried again.")
        return None


def _finish(lake: Lake, now: datetime) -> None:
    for change in ClockChange.objects.filter(files=None):
        with contextlib.suppress(Locked), lock("clock", LOCK_SECONDS):
            ClockChange.objects.filter(pk=change.pk).update(files=_set_aside(lake, now))


def newest_recorded() -> datetime | None:
    """Of what every worker goes on from."""
    found = (
        AlertEngine.objects.aggregate(at=Max("evaluated_at")),
        Reading.objects.aggregate(at=Max("taken_at")),
        PipelineRun.objects.aggregate(at=Max("until")),
        GroupState.objects.aggregate(at=Max("judged_at")),
        MachineClock.objects.aggregate(at=Max("seen_at")),
    )
    return max((one["at"] for one in found if one["at"] is not None), default=None)


def _changed(boot: str, machine: Machine, lake: Lake) -> None:
    """Both clocks are read again: what a slow process read before the change would seem another one."""
    known = MachineClock.objects.get(boot=boot)
    now, uptime = machine.clock(), machine.uptime()
    jump = _jump(known, now, uptime)
    if abs(jump) > CLOCKS_DIFFER:
        _put_right(known, lake, now, uptime, jump, measured=True, name=machine.name)


def _put_right(
    known: MachineClock, lake: Lake, now: datetime, uptime: float, jump: timedelta, *, measured: bool, name: str
) -> None:
    """Files first: killed in between, the change is found again, and what is done already is not done twice."""
    files = _set_aside(lake, now) if jump < timedelta() else 0
    with transaction.atomic():
        MachineClock.objects.filter(boot=known.boot).update(
            seen_at=now,
            uptime_seconds=uptime,
            steady_seconds=0,
            doubt=Doubt.CHANGED,
            doubt_at=now,
            ahead_until=None,
            ahead_uptime_seconds=None,
        )
        void = put_right(now) if jump < timedelta() else {}
        ClockChange.objects.create(
            at=now,
            before=now - jump,
            machine=name,
            seconds=jump.total_seconds(),
            measured=measured,
            void=void,
            files=files,
        )
    words = "The clock of %s was set by %+.0f s. Void: %s, and %s files of history."
    logger.error(words, name, jump.total_seconds(), void or "none", files)
