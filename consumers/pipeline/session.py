"""The one Spark session of a process, made when first asked for: starting it takes seconds, a warm run does not."""

import os
import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

from .shipped import send_code

SETTINGS = {
    # Nothing of ours is looked at through Spark's own pages, and every open port is one too many.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Windows and files are cut at UTC hours, whatever the machine's zone is.
    "spark.sql.session.timeZone": "UTC",
    # Results leave as Arrow, and inputs such as the known groups come in as Arrow.
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Noting for every column which line of Python made it took a fifth of a small run.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # A cached frame is used twice and dropped: packing it column by column costs more than it saves.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # Small joins dominate, and a plan that is adapted after each stage costs a job per stage.
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    # Nobody looks at what was run before, and a session lasts for weeks.
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "100",
    "spark.sql.ui.retainedExecutions": "1",
    # A result of a million queues is some 200 MB; the default of 1g would be the whole driver.
    "spark.driver.maxResultSize": "0",
}


def session(master: str, driver_memory: str, partitions: int, extra: Mapping[str, str] | None = None) -> SparkSession:
    """The session of this process; the first call decides its master and memory.

    `partitions` is how many pieces a shuffle has: a few per core; the default of 200 would cost seconds a run.
    """
    # Spark's Python workers must be this interpreter, not the first python on PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("consumerscope").config("spark.driver.memory", driver_memory)
    builder = builder.config("spark.sql.shuffle.partitions", str(partitions))
    if master.startswith("local"):
        # Only this machine talks to a local session.
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        builder = builder.config("spark.driver.extraJavaOptions", java_options(master))
    for name, value in {**SETTINGS, **(extra or {})}.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    if not master.startswith("local"):
        send_code(made)
    return made


def java_options(master: str) -> str:
    """Of a local session, whose work is done in Python: Java places tasks and passes bytes on."""
    # Collectors with threads of their own are for heaps that are many times larger.
    options = ["-XX:+UseSerialGC"]
    if master in ("local", "local[1]"):
        # On one core the second compiler takes its time from the runs: a first run costs a quarter less without.
        options.append("-XX:TieredStopAtLevel=1")
    return " ".join(options)
