"""Runs with their record: which range is due, a row for each run, failures with their sentence."""

import logging
import time
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Max, Min, Q
from pyspark.sql import SparkSession

from consumers.lake.store import Lake
from consumers.models import Cluster, PipelineRun, Reading

from .durations import Durations
from .failures import sentence
from .job import Kept, Report, run

logger = logging.getLogger(__name__)

FIRST_RANGE = timedelta(minutes=10)
# After a longer pause the missed hours stay without windows, rather than the newest states being late.
LONGEST_RANGE = timedelta(hours=1)
RECORDED_WITHIN = timedelta(seconds=30)


def due_range(now: datetime, durations: Durations) -> tuple[datetime, datetime]:
    """From the end of the last run that succeeded, or from the first reading that it did not know of: a reading is
    written after it was taken. So minutes that are over are made once, and again only where a reading came late."""
    last = _last_run(now)
    if last is None:
        return now - FIRST_RANGE, now
    if last.newest_reading is None:
        since = last.until - timedelta(seconds=2 * durations.poll_seconds)
    else:
        since = min(last.until, _first_unseen(last, last.newest_reading) or last.until)
    return max(since, now - LONGEST_RANGE), now


def _first_unseen(last: PipelineRun, newest: int) -> datetime | None:
    """A cluster's readings are recorded one after the other. Those of several are recorded at once: where the database
    gives keys before rows are seen, as PostgreSQL does, one with a lower key may be seen later."""
    unseen = Q(pk__gt=newest)
    if Cluster.objects.count() > 1:
        unseen |= Q(taken_at__gte=last.started_at - RECORDED_WITHIN)
    return Reading.objects.filter(unseen).aggregate(first=Min("taken_at"))["first"]


def is_nothing_new(now: datetime, durations: Durations) -> bool:
    """No reading came since the last run, and the newest is so new that its age changes no state."""
    last, newest = _last_run(now), Reading.objects.order_by("-pk").first()
    if last is None or newest is None or last.newest_reading != newest.pk:
        return False
    return newest.taken_at >= now - timedelta(seconds=durations.unknown_after_seconds)


def record_skip(now: datetime) -> None:
    """The row says that the worker looked, and that what it found last holds."""
    last = _last_run(now)
    assert last is not None
    PipelineRun.objects.create(
        since=last.until,
        until=now,
        started_at=now,
        finished_at=now,
        seconds=0.0,
        queues_judged=0,
        groups_judged=0,
        newest_reading=last.newest_reading,
        skipped=True,
    )
    logger.info("No reading came since the last run of the pipeline: this one is skipped.")


def _last_run(now: datetime) -> PipelineRun | None:
    """That succeeded, and did something."""
    done = PipelineRun.objects.filter(error=None, finished_at__isnull=False, skipped=False, until__lte=now)
    return done.order_by("-until").first()


def recorded_run(
    spark: SparkSession,
    lake: Lake,
    clusters: Sequence[str],
    since: datetime,
    until: datetime,
    durations: Durations,
    started_at: datetime,
    kept: Kept | None = None,
) -> tuple[Report, float]:
    """Runs and records it; what fails is recorded too, then raised. Returns the report and the seconds it took."""
    # Before the first file is read: what is recorded from now on may or may not be seen.
    newest = Reading.objects.aggregate(newest=Max("pk"))["newest"]
    record = PipelineRun.objects.create(since=since, until=until, started_at=started_at, newest_reading=newest)
    began = time.monotonic()
    try:
        report = run(spark, lake, clusters, since, until, durations, kept)
    except Exception as error:
        logger.exception("A run of the pipeline over %s to %s failed.", since, until)
        _finish(record, began, error=sentence(error))
        raise
    seconds = _finish(record, began, queues_judged=report.queues_judged, groups_judged=report.groups_judged)
    return report, seconds


def _finish(record: PipelineRun, began: float, **fields: object) -> float:
    seconds = time.monotonic() - began
    for name, value in fields.items():
        setattr(record, name, value)
    record.seconds = seconds
    record.finished_at = record.started_at + timedelta(seconds=seconds)
    record.save(update_fields=["seconds", "finished_at", *fields])
    return seconds
