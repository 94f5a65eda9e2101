"""Runs with their record: which range is due, a row for each run, failures with their sentence."""

import logging
import time
from collections.abc import Sequence
from datetime import datetime, timedelta

from pyspark.sql import SparkSession

from consumers.lake.store import Lake
from consumers.models import PipelineRun

from .durations import Durations
from .failures import sentence
from .job import Report, run

logger = logging.getLogger(__name__)

FIRST_RANGE = timedelta(minutes=10)
# After a longer pause the missed hours stay without windows, rather than the newest states being late.
LONGEST_RANGE = timedelta(hours=1)


def due_range(now: datetime, durations: Durations) -> tuple[datetime, datetime]:
    """From the end of the last run that succeeded, a little earlier: a reading is written after it was taken."""
    last = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=now).order_by("-until").first()
    overlap = timedelta(seconds=2 * durations.poll_seconds)
    since = now - FIRST_RANGE if last is None else max(last.until - overlap, now - LONGEST_RANGE)
    return since, now


def recorded_run(
    spark: SparkSession,
    lake: Lake,
    clusters: Sequence[str],
    since: datetime,
    until: datetime,
    durations: Durations,
    started_at: datetime,
) -> tuple[Report, float]:
    """Runs and records it; what fails is recorded too, then raised. Returns the report and the seconds it took."""
    record = PipelineRun.objects.create(since=since, until=until, started_at=started_at)
    began = time.monotonic()
    try:
        report = run(spark, lake, clusters, since, until, durations)
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
