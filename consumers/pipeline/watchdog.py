"""Bounds a run: the Spark worker runs one task at a time in its own process, where Celery's time limits do nothing.

After the limit, or once nobody wants it any more, the run's jobs are cancelled, those that it begins later too; a run
that does not let go even then ends the process, and whoever supervises it starts another with a session that works.
"""

import contextlib
import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from enum import Enum

from pyspark.sql import SparkSession

logger = logging.getLogger(__name__)

GRACE_SECONDS = 60.0
EXIT_CODE = 70  # EX_SOFTWARE of sysexits.h
LOOK_SECONDS = 0.5


class End(Enum):
    """Of a run."""

    ITS_OWN = "its own"
    LIMIT = "the limit"
    NOT_WANTED = "not wanted"


def leave() -> None:
    # Not sys.exit: the thread that hangs in the JVM would never see it.
    os._exit(EXIT_CODE)


def wanted() -> bool:
    """Of a run that nobody can give up."""
    return True


@contextlib.contextmanager
def bounded(
    spark: SparkSession,
    seconds: float,
    grace_seconds: float = GRACE_SECONDS,
    leave: Callable[[], None] = leave,
    is_wanted: Callable[[], bool] = wanted,
) -> Iterator[None]:
    """Cancels the block's Spark jobs after `seconds`, or once it is not wanted; after `grace_seconds` more it calls
    `leave`. `is_wanted` is called in a thread of its own, twice a second.
    """
    group = f"consumerscope-{uuid.uuid4().hex}"
    context = spark.sparkContext
    done = threading.Event()

    def watch() -> None:
        end = _end_of(done, seconds, is_wanted)
        if end == End.ITS_OWN:
            return
        if end == End.LIMIT:
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


def _end_of(done: threading.Event, seconds: float, is_wanted: Callable[[], bool]) -> End:
    ends = time.monotonic() + seconds
    while not done.wait(max(0.0, min(LOOK_SECONDS, ends - time.monotonic()))):
        if time.monotonic() >= ends:
            return End.LIMIT
        if not is_wanted():
            return End.NOT_WANTED
    return End.ITS_OWN
