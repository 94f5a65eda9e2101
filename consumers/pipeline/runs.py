"""Runs with their record: which range is due, a row for each run, failures with their sentence."""

import errno
import logging
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.db.models import Max, Min, Q
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from consumers.lake.store import Lake
from consumers.models import Cluster, PipelineRun, Reading

from .durations import Durations
from .job import Report, RunCache, run

# A cause has causes; more of them would be a circle.
DEEPEST = 12

JVM_GONE = (
    "The run failed because Spark's Java process is gone: it was killed, or its machine ran out of memory. The worker "
    "starts another; if that repeats, look for 'out of memory' in the machine's log and lower SPARK_DRIVER_MEMORY."
)
OUT_OF_MEMORY = (
    "The run ran out of memory in Spark's Java process. Raise SPARK_DRIVER_MEMORY, or the memory of Spark's executors."
)
PYTHON_OUT_OF_MEMORY = (
    "The run ran out of memory in a Python process. Give the machine of the Spark worker more memory, or run fewer "
    "processes on it."
)
DISK_FULL = (
    "The run could not write its results: the disk is full. Free space in the history store, or on Spark's disk."
)
CANCELLED = (
    "The run was cancelled because it took longer than SPARK_RUN_LIMIT_SECONDS, or because nobody waits for it. If "
    "that repeats, give Spark more cores or raise the limit."
)
TIMED_OUT = (
    "The run waited too long for an answer of another process. The next run tries again; if that repeats, the machine "
    "is overloaded: give it more cores."
)
STOPPED = "The run ended early because its Spark session was stopped. The worker starts another."
NO_JAVA = "Spark could not start its Java process. Install Java 17 or newer, and see that JAVA_HOME names it."
NO_MASTER = "The run found no Spark master that answers. See that the cluster of SPARK_MASTER is up."
WORKER_DIED = (
    "A Python process of Spark ended in the middle of its work: it was killed, or it crashed. The next run tries "
    "again; if that repeats, look for 'out of memory' in the machine's log."
)
FILE_GONE = (
    "A file of the history store was removed while the run read it. The next run reads the files that are there."
)
FILE_DAMAGED = (
    "A file of the history store cannot be read: it is damaged, or not complete. The log of the Spark worker names it: "
    "restore the file, or remove it."
)
FORBIDDEN = (
    "The run may not read or write the history store. Give the user of the Spark worker, or its keys, the right to "
    "CONSUMERSCOPE_LAKE."
)
STORE_SILENT = (
    "The run could not reach the history store: it did not answer, or refused for now. The next run tries again; if "
    "that repeats, see that the object store of CONSUMERSCOPE_LAKE is up and can be reached from every Spark worker."
)
NO_BUCKET = "The run found no bucket of the name in CONSUMERSCOPE_LAKE. Make the bucket, or correct the name."
STORE_REFUSED = (
    "The history store refused an object of the run. The log of the Spark worker has the store's words for it; the "
    "next run tries again."
)
DATABASE = (
    "The database did not take the results of the run, or did not answer. The next run tries again; if that repeats, "
    "look at the database's log."
)
WITHIN_SPARK = "The run failed within Spark for a reason that is not among the known ones. See the Spark worker's log."

# The first that is part of what the exceptions say decides. Lower case: names of classes, and words of messages.
KNOWN: tuple[tuple[tuple[str, ...], str], ...] = (
    (("no space left on device", "disk quota exceeded"), DISK_FULL),
    (("java.lang.outofmemoryerror", "gc overhead limit", "unable to acquire", "sparkoutofmemory"), OUT_OF_MEMORY),
    (("memoryerror", "arrowmemoryerror", "cannot allocate memory"), PYTHON_OUT_OF_MEMORY),
    (("java gateway process exited", "java_gateway_exited", "unsupportedclassversion"), NO_JAVA),
    (("all masters are unresponsive", "failed to connect to master"), NO_MASTER),
    (("cancelled job group", "was cancelled", "operation_canceled", "sparkjobcancelled", "job_cancelled"), CANCELLED),
    (("stopped sparkcontext", "sparkcontext was shut down", "sparkcontext has been shutdown"), STOPPED),
    (
        ("python worker exited", "python worker crashed", "worker process died", "workerlost", "executorlost"),
        WORKER_DIED,
    ),
    # Of object stores, as pyarrow tells of them.
    (("aws error no_such_bucket",), NO_BUCKET),
    (("aws error access_denied", "aws error invalid_access_key", "aws error signature_does_not"), FORBIDDEN),
    (("aws error no_such_key", "aws error resource_not_found"), FILE_GONE),
    (
        ("aws error network_connection", "aws error slow_down", "aws error service_unavailable", "aws error internal"),
        STORE_SILENT,
    ),
    (("aws error",), STORE_REFUSED),
    (("not a parquet file", "could not read footer", "cannot_read_file_footer", "parquet magic bytes"), FILE_DAMAGED),
    (("filenotfoundexception", "file_not_exist", "path_not_found", "path does not exist"), FILE_GONE),
    (("accesscontrolexception", "permission denied", "accessdenied"), FORBIDDEN),
    (("timeoutexception", "timed out", "rpctimeout"), TIMED_OUT),
)
OF_ERRNO = {
    errno.ENOSPC: DISK_FULL,
    errno.EDQUOT: DISK_FULL,
    errno.EACCES: FORBIDDEN,
    errno.EPERM: FORBIDDEN,
    errno.EROFS: FORBIDDEN,
    errno.ENOENT: FILE_GONE,
    errno.ENOMEM: PYTHON_OUT_OF_MEMORY,
    errno.ETIMEDOUT: TIMED_OUT,
}


def sentence(error: BaseException) -> str:
    """For people who run the site: no name of a Java class, no plan and no stack."""
    chain = list(_chain(error))
    for one in chain:
        if (known := _by_type(one)) is not None:
            return known
    try:
        text = " ".join(_error_text(one) for one in chain).lower()
    except (Py4JNetworkError, ConnectionError):
        # What the exception says is asked of the Java process, which does not answer.
        return JVM_GONE
    for words, known in KNOWN:
        if any(word in text for word in words):
            return known
    if any(_is_of_spark(one) for one in chain):
        return WITHIN_SPARK
    first = (str(error).strip().splitlines() or [""])[0]
    return (
        f"The run failed for an unexpected reason ({type(error).__name__}: {first[:200]}). See the Spark worker's log."
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and its causes, as Python has them."""
    found: BaseException | None = error
    for _ in range(DEEPEST):
        if found is None:
            return
        yield found
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)


def _by_type(error: BaseException) -> str | None:
    # Their own texts are of sockets and tables.
    if isinstance(error, Py4JNetworkError | ConnectionError):
        return JVM_GONE
    if isinstance(error, MemoryError):
        return PYTHON_OUT_OF_MEMORY
    if isinstance(error, TimeoutError):
        return TIMED_OUT
    if isinstance(error, OSError) and error.errno in OF_ERRNO:
        return OF_ERRNO[error.errno]
    return DATABASE if _is_of_database(error) else None


def _is_of_database(error: BaseException) -> bool:
    return any(kind.__module__ == "django.db.utils" for kind in type(error).__mro__)


def _is_of_spark(error: BaseException) -> bool:
    return isinstance(error, PySparkException | Py4JError)


def _error_text(error: BaseException) -> str:
    if isinstance(error, Py4JJavaError):
        return f"{error.errmsg} {_of_java(error.java_exception)}"
    if isinstance(error, PySparkException):
        return f"{type(error).__name__} {error.getMessage() or ''} {_of_java(getattr(error, '_origin', None))}"
    return f"{type(error).__name__} {error}"


def _of_java(thrown: object) -> str:
    """Names and messages of a Java exception and of its causes."""
    lines: list[str] = []
    for _ in range(DEEPEST):
        if thrown is None:
            break
        lines += [str(thrown.getClass().getName()), str(thrown.getMessage())]  # type: ignore[attr-defined]
        thrown = thrown.getCause()  # type: ignore[attr-defined]
    return " ".join(lines)


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
    """Records that the worker found nothing to evaluate, and that the states of its last run hold."""
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


def _newest_seen(clusters: Sequence[str], since: datetime, until: datetime, durations: Durations) -> int | None:
    """Returns the newest reading before the first file is read: a run may or may not see what is recorded later. A run
    of some clusters, or of a range that begins later than what is due, leaves earlier unseen readings to the next run.
    """
    is_whole = since <= due_range(until, durations)[0] and not Cluster.objects.exclude(name__in=clusters).exists()
    if is_whole:
        return Reading.objects.aggregate(newest=Max("pk"))["newest"]
    last = _last_run(until)
    return last.newest_reading if last else 0


def recorded_run(
    spark: SparkSession,
    lake: Lake,
    clusters: Sequence[str],
    since: datetime,
    until: datetime,
    durations: Durations,
    started_at: datetime,
    cache: RunCache | None = None,
) -> tuple[Report, float]:
    """Runs and records it; what fails is recorded too, then raised. Returns the report and the seconds it took."""
    newest = _newest_seen(clusters, since, until, durations)
    record = PipelineRun.objects.create(since=since, until=until, started_at=started_at, newest_reading=newest)
    began = time.monotonic()
    try:
        report = run(spark, lake, clusters, since, until, durations, cache)
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
