"""Configures the pipeline for this site: the only module of the package that reads Django's settings."""

import contextlib
import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from django.conf import settings
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from consumers.lake.store import Lake
from consumers.models import Cluster

from .durations import Durations
from .job import Report, RunCache
from .runs import due_range, is_nothing_new, record_skip, recorded_run
from .spark import session

# Bounds a run: the Spark worker runs one task at a time in its own process, where Celery's time limits do nothing.
#
# After the limit the run's jobs are cancelled, those that it begins later too; a run that does not let go even then
# ends the process, and whoever supervises it starts another with a session that works.

logger = logging.getLogger(__name__)

GRACE_SECONDS = 60.0
EXIT_CODE = 70  # EX_SOFTWARE of sysexits.h


def leave() -> None:
    # Not sys.exit: the thread that hangs in the JVM would never see it.
    os._exit(EXIT_CODE)


@contextlib.contextmanager
def bounded(
    spark: SparkSession,
    seconds: float,
    grace_seconds: float = GRACE_SECONDS,
    leave: Callable[[], None] = leave,
) -> Iterator[None]:
    """Cancels the block's Spark jobs after `seconds`; after `grace_seconds` more it calls `leave`."""
    group = f"consumerscope-{uuid.uuid4().hex}"
    context = spark.sparkContext
    done = threading.Event()

    def watch() -> None:
        if done.wait(seconds):
            return
        logger.error("A run of the pipeline took longer than %g s; its jobs are cancelled.", seconds)
        # Those to come as well: between two jobs there is none to cancel.
        context._jsc.sc().cancelJobGroupAndFutureJobs(group)
        if not done.wait(grace_seconds):
            logger.critical("The run does not end %g s after that: this process ends instead.", grace_seconds)
            leave()

    context.setJobGroup(group, "consumerscope pipeline", interruptOnCancel=True)
    watcher = threading.Thread(target=watch, name="pipeline-watchdog", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        context._jsc.clearJobGroup()


# Of the runs of this process, one at a time.
KEPT = RunCache()


def site_durations() -> Durations:
    return Durations.of(settings.JUDGE, settings.CONSUMERSCOPE_POLL_SECONDS)


def site_lake() -> Lake:
    return Lake.at(settings.CONSUMERSCOPE_LAKE)


def warm_session() -> SparkSession:
    """Made by the first call in a process."""
    spark = session(settings.SPARK_MASTER, settings.SPARK_DRIVER_MEMORY, partitions=4)
    # A few pieces a core; those that turn out small are put together again.
    spark.conf.set("spark.sql.shuffle.partitions", str(4 * spark.sparkContext.defaultParallelism))
    return spark


def aggregate(clusters: Sequence[str], since: datetime, until: datetime, now: datetime) -> tuple[Report, float]:
    """One bounded, recorded run; returns its report and seconds."""
    spark = warm_session()
    with bounded(spark, settings.SPARK_RUN_LIMIT_SECONDS):
        return recorded_run(spark, site_lake(), clusters, since, until, site_durations(), now, KEPT)


def aggregate_what_is_due(now: datetime) -> None:
    clusters = list(Cluster.objects.values_list("name", flat=True))
    if not clusters:
        return
    if is_nothing_new(now, site_durations()):
        record_skip(now)
        return
    try:
        aggregate(clusters, *due_range(now, site_durations()), now)
    except (Py4JNetworkError, ConnectionError):
        # A process whose JVM has died cannot start another.
        logger.critical("Spark's JVM is gone: this process ends, so that its supervisor starts another.")
        leave()
