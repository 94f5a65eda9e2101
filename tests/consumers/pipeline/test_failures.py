"""What people read of a run that failed: a sentence that names the cause and what to do, and nothing of Java."""

import errno
import re

import pytest
from django.db.utils import OperationalError
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import AnalysisException, PySparkRuntimeError

from consumers.lake.store import Lake
from consumers.models import PipelineRun
from consumers.pipeline import runs
from consumers.pipeline.durations import Durations
from tests.world import NOW, ago

TECHNICAL = re.compile(r"py4j|org\.apache|java\.(lang|util|io)|Exception|\bat \w+\.\w+|\$|Traceback|\n")
STACK = """
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2898)
\tat java.base/java.lang.Thread.run(Thread.java:840)"""
ABORTED = (
    "Job aborted due to stage failure: Task 3 in stage 41.0 failed 1 times, most recent failure: Lost task 3.0 in "
    "stage 41.0 (TID 180) (127.0.0.1 executor driver): "
)


class _JavaClass:
    def __init__(self, name):
        self._name = name

    def getName(self):
        return self._name


class _Thrown:
    """As py4j hands a Java exception over: three of its methods are asked."""

    def __init__(self, name, message, cause=None):
        self._target_id, self._class, self._message, self._cause = "o1", _JavaClass(name), message, cause

    def getClass(self):
        return self._class

    def getMessage(self):
        return self._message

    def getCause(self):
        return self._cause


class _OfNobody(_Thrown):
    """Of a process that has ended."""

    def getClass(self):
        raise Py4JNetworkError("Answer from Java side is empty")


def of_java(*chain):
    """`chain`: name and message of the exception and of its causes."""
    thrown = None
    for name, message in reversed(chain):
        thrown = _Thrown(name, message, thrown)
    return Py4JJavaError("An error occurred while calling o287.collectToPython.\n", thrown)


SPARK = "org.apache.spark.SparkException"
OUT_OF_HEAP = "java.lang.OutOfMemoryError"
REAL = [
    (of_java((SPARK, ABORTED + OUT_OF_HEAP + ": Java heap space" + STACK)), runs.OUT_OF_MEMORY),
    (of_java((SPARK, "Job aborted."), (OUT_OF_HEAP, "GC overhead limit exceeded")), runs.OUT_OF_MEMORY),
    (of_java(("org.apache.spark.memory.SparkOutOfMemoryError", "[UNABLE_TO_ACQUIRE_MEMORY]")), runs.OUT_OF_MEMORY),
    (of_java((SPARK, ABORTED + "MemoryError\n" + STACK)), runs.PYTHON_OUT_OF_MEMORY),
    (of_java((SPARK, "Job 5 cancelled part of cancelled job group consumerscope-9f" + STACK)), runs.CANCELLED),
    (of_java((SPARK, "[SPARK_JOB_CANCELLED] Job 5 cancelled as part of job group")), runs.CANCELLED),
    (of_java((SPARK, "Exception thrown in awaitResult"), ("java.util.concurrent.TimeoutException", "[120 seconds]")),
     runs.TIMED_OUT),
    (of_java((SPARK, ABORTED + "java.io.IOException: No space left on device" + STACK)), runs.DISK_FULL),
    (of_java((SPARK, ABORTED + "Python worker exited unexpectedly (crashed)" + STACK)), runs.WORKER_DIED),
    (of_java(("java.lang.IllegalStateException", "Cannot call methods on a stopped SparkContext." + STACK)),
     runs.STOPPED),
    (of_java((SPARK, "Job aborted."), ("java.io.FileNotFoundException", "File file:/lake/x.parquet does not exist")),
     runs.FILE_GONE),
    (of_java((SPARK, ABORTED + "java.lang.RuntimeException: file:/lake/x.parquet is not a Parquet file.")),
     runs.FILE_DAMAGED),
    (of_java(("java.lang.NullPointerException", None)), runs.WITHIN_SPARK),
    (of_java((SPARK, ABORTED + "scala.MatchError: null" + STACK)), runs.WITHIN_SPARK),
    (AnalysisException("[UNRESOLVED_COLUMN] A column cannot be resolved. JVM stacktrace: org.apache.spark.sql…"),
     runs.WITHIN_SPARK),
    (PySparkRuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number."),
     runs.NO_JAVA),
    (Py4JError("org.apache.spark.api.python.PythonUtils does not exist in the JVM"), runs.WITHIN_SPARK),
    (Py4JNetworkError("Answer from Java side is empty"), runs.JVM_GONE),
    (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), runs.JVM_GONE),
    (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), runs.JVM_GONE),
    (Py4JJavaError("An error occurred while calling o287.count.\n", _OfNobody("", "")), runs.JVM_GONE),
    (OSError(errno.ENOSPC, "No space left on device"), runs.DISK_FULL),
    (PermissionError(errno.EACCES, "Permission denied", "/lake/windows_60"), runs.FORBIDDEN),
    (FileNotFoundError(errno.ENOENT, "No such file or directory", "/lake/x.parquet"), runs.FILE_GONE),
    (MemoryError(), runs.PYTHON_OUT_OF_MEMORY),
    (TimeoutError("timed out"), runs.TIMED_OUT),
    (OSError("When getting information for key 'lake/x' in bucket 'b': AWS Error NETWORK_CONNECTION during HeadObject "
             "operation: curlCode: 28, Timeout was reached"), runs.STORE_SILENT),
    (of_java((SPARK, ABORTED + "OSError: When reading: AWS Error SLOW_DOWN during GetObject operation" + STACK)),
     runs.STORE_SILENT),
    (OSError("When listing: AWS Error NO_SUCH_BUCKET during ListObjectsV2 operation"), runs.NO_BUCKET),
    (OSError("When uploading: AWS Error ACCESS_DENIED during PutObject operation"), runs.FORBIDDEN),
    (OSError("AWS Error RESOURCE_NOT_FOUND during GetObject operation"), runs.FILE_GONE),
    (OSError("When uploading: AWS Error EXPIRED_TOKEN during PutObject operation"), runs.STORE_REFUSED),
    (OperationalError("database is locked"), runs.DATABASE),
]  # fmt: skip


@pytest.mark.parametrize(("error", "said"), REAL, ids=[f"{number}" for number in range(len(REAL))])
def test_a_failure_is_one_sentence_that_says_what_to_do(error, said):
    assert runs.sentence(error) == said
    assert not TECHNICAL.search(runs.sentence(error))


def test_a_cause_of_python_decides_where_the_exception_itself_says_nothing():
    error = RuntimeError("The windows were not written.")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    assert runs.sentence(error) == runs.DISK_FULL


def test_an_exception_of_ours_says_its_first_line():
    said = runs.sentence(ValueError("The lake is gone.\n  at org.apache…"))
    assert "(ValueError: The lake is gone.)" in said
    assert not TECHNICAL.search(said.replace("ValueError", ""))


def test_causes_that_go_in_a_circle_come_to_an_end():
    thrown = _Thrown("java.lang.IllegalStateException", "It goes round.")
    thrown._cause = thrown
    assert runs.sentence(Py4JJavaError("An error occurred.\n", thrown)) == runs.WITHIN_SPARK


@pytest.mark.django_db
def test_the_record_of_a_run_holds_the_sentence_and_the_log_the_rest(tmp_path, monkeypatch, caplog):
    def fail(*_):
        raise Py4JNetworkError("Answer from Java side is empty")

    monkeypatch.setattr(runs, "run", fail)
    with pytest.raises(Py4JNetworkError):
        runs.recorded_run(None, Lake.at(str(tmp_path)), ["prod"], ago(60), NOW, Durations(), NOW)
    assert PipelineRun.objects.get().error == runs.JVM_GONE
    assert "Answer from Java side is empty" in caplog.text
