"""The pipeline as this site is set up: the one place of this room that reads Django's settings."""

import logging
from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from consumers.lake.store import Lake
from consumers.models import Cluster

from .durations import Durations
from .job import Kept, Report
from .runs import due_range, is_nothing_new, record_skip, recorded_run
from .session import session
from .watchdog import bounded, leave

logger = logging.getLogger(__name__)
# Of the runs of this process, one at a time.
KEPT = Kept()


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
