"""Keeps history as long as it is meant to be kept: in the lake, and in the rows that stand for it."""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Model, QuerySet

from consumers.lake import compaction, knot_days, retention
from consumers.lake.disk import below_floor
from consumers.lake.store import Lake
from consumers.models import (
    Assignment,
    Client,
    ClientSubscription,
    GroupWindow,
    PipelineRun,
    Reading,
    Rebalance,
    StateChange,
)

from .durations import Durations
from .measured_sizes import measure_history
from .usual_gaps import learn_usual_gaps
from .wider import make_due

logger = logging.getLogger(__name__)

# A reading is written seconds after its time, and a run may still redo the last minutes of an hour.
MARGIN = timedelta(minutes=10)
KNOTS_KEPT = timedelta(days=30)
DELETED_AT_ONCE = 10_000
STEPS = (60, 600, 3600, 86400)
INTERVALS: tuple[type[Model], ...] = (Client, Assignment, ClientSubscription)


def kept_for() -> dict[str, timedelta]:
    """How long each table of the lake is kept."""
    raw = timedelta(hours=settings.LAKE_RAW_HOURS)
    return {
        "readings": raw,
        "membership": raw,
        "ownership": raw,
        "stored_offsets": raw,
        "dead_letters": raw,
        "windows_60": timedelta(days=settings.LAKE_MINUTE_WINDOW_DAYS),
        "windows_600": timedelta(days=settings.LAKE_TEN_MINUTE_WINDOW_DAYS),
        "windows_3600": timedelta(days=settings.LAKE_HOUR_WINDOW_DAYS),
        "windows_86400": timedelta(days=settings.LAKE_DAY_WINDOW_DAYS),
        "knots": KNOTS_KEPT,
    }


def keep_up(lake: Lake, now: datetime, *, may_expire: bool) -> None:
    """Without `may_expire` nothing is deleted by age: the clock is in doubt."""
    kept, folders, rows = kept_for(), 0, 0
    if may_expire:
        # What is old goes first: the whole of an hour needs room beside its parts.
        folders = retention.expire(lake, now, kept)
        rows = prune_rows(now, kept)
    learn_usual_gaps(lake, now)
    wide = hours = days = 0
    if below_floor(lake, settings.LAKE_DISK_FLOOR_MIB):
        logger.error("The lake's disk has less than %s MiB free: nothing is compacted.", settings.LAKE_DISK_FLOOR_MIB)
    else:
        durations = Durations.of(settings.JUDGE, settings.CONSUMERSCOPE_POLL_SECONDS)
        wide = make_due(lake, now, MARGIN, timedelta(seconds=durations.reach_seconds))
        hours = compaction.compact(lake, now, MARGIN)
        days = knot_days.settle(lake, now)
    measure_history(lake, now)
    logger.info("%d windows of hours and days made, %d hours compacted, %d days settled.", wide, hours, days)
    logger.info("%d folders and %d rows expired.", folders, rows)


def prune_rows(now: datetime, kept: Mapping[str, timedelta]) -> int:
    """Deletes rows as old as the files that they stand beside. Returns their number."""
    minute, ten_minutes = now - kept["windows_60"], now - kept["windows_600"]
    return sum(
        _delete(rows)
        for rows in (
            Reading.objects.filter(taken_at__lt=now - kept["readings"]),
            PipelineRun.objects.filter(started_at__lt=minute),
            *(GroupWindow.objects.filter(step_seconds=step, start__lt=now - kept[f"windows_{step}"]) for step in STEPS),
            StateChange.objects.filter(at__lt=ten_minutes),
            Rebalance.objects.filter(started_before__lt=ten_minutes),
            # What still lasts is kept, however long ago it began.
            *(model._default_manager.filter(gone_by__lt=ten_minutes) for model in INTERVALS),
        )
    )


def _delete(rows: QuerySet) -> int:
    """In pieces: one statement over a million rows would keep every writer waiting."""
    deleted = 0
    while ids := list(rows.order_by().values_list("pk", flat=True)[:DELETED_AT_ONCE]):
        deleted += rows.model._default_manager.filter(pk__in=ids).delete()[0]
    return deleted
