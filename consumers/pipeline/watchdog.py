"""Bounds a run: the Spark worker runs one task at a time in its own process, where Celery's time limits do nothing.

After the limit the run's jobs are cancelled, those that it begins later too; a run that does not let go even then ends
the process, and whoever supervises it starts another with a session that works.
"""

import contextlib
import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterator

from pyspark.sql import SparkSession

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
