"""Buckets of work as Spark tasks: each reads its rows of the lake's files by itself and gives its tables back.

One action without a shuffle, whose plan is the same in every run: Spark places the tasks, tries a failed one again, and
on a cluster spreads them. What goes through Spark are a few rows of bytes.
"""

import math
import os
import pickle
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark import inheritable_thread_target
from pyspark.sql import SparkSession

from consumers.lake.store import COMPACTED, Lake

from .bucket import Work, worked
from .inputs import SliceInputs
from .rows import Span, spans

PACKAGE = Path(__file__).resolve().parent.parent
NAME = "consumerscope.zip"
# By Spark's own number of an application. It serves the file itself, for as long as it lives.
_sent: dict[str, "tempfile.TemporaryDirectory[str]"] = {}


def send_code(spark: SparkSession) -> None:
    """Once an application; executors that come later get it, too."""
    context = spark.sparkContext
    if context.applicationId not in _sent:
        folder = _sent[context.applicationId] = tempfile.TemporaryDirectory(prefix="consumerscope-code-")
        context.addPyFile(str(archive(Path(folder.name))))


def archive(folder: Path) -> Path:
    """What a task imports is in the package `consumers`, without Django."""
    written = folder / NAME
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(PACKAGE.rglob("*.py")):
            packed.write(path, path.relative_to(PACKAGE.parent))
    return written


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
    # The heap begins small and grows at need: Java would begin with a share of the machine's memory, and fill that.
    options = ["-XX:+UseSerialGC", "-Xms96m"]
    if master in ("local", "local[1]"):
        # On one core the second compiler takes its time from the runs: a first run costs a quarter less without.
        options.append("-XX:TieredStopAtLevel=1")
    return " ".join(options)


OfBucket = Callable[[Work, int], dict[str, pa.Table]]
RESULT = "name string, payload binary"
RESULT_SCHEMA = pa.schema([("name", pa.string()), ("payload", pa.binary())])
# Pieces of a result: Spark copies each of them in its memory, some of them at once.
ROWS_IN_PIECE = 100_000
# Buckets of a job, by core: more of them wait for each other at its end, fewer cost more jobs.
BUCKETS_FOR_CORE = 4
# More readings than this are cut into several buckets: so many take some 140 MB in a task.
READINGS_IN_BUCKET = 700_000


def spans_for(lake: Lake, names: Sequence[Sequence[str]], cores: int, hours: float) -> tuple[Span, ...]:
    """Into which buckets the readings of these files, by cluster, are cut: one for a small site, else one for each core
    at least. So many `hours` are read."""
    rows = sum(_rows(lake, files, hours) for files in names)
    count = 1 if rows < READINGS_IN_BUCKET // 2 else max(cores, math.ceil(rows / READINGS_IN_BUCKET))
    return spans(lake, [file for files in names for file in files[-1:]], count)


def _rows(lake: Lake, names: Sequence[str], hours: float) -> float:
    """About as many as are read of the files: a reading has as many rows as the last, and closed hours have their rows
    evenly."""
    wholes = [name for name in names if name.endswith(f"/{COMPACTED}")]
    parts = [name for name in names if not name.endswith(f"/{COMPACTED}")]
    weights = {**dict.fromkeys(wholes, min(1, hours / max(len(wholes), 1))), **dict.fromkeys(parts[-1:], len(parts))}
    return sum(pq.read_metadata(name, filesystem=lake.filesystem).num_rows * weight for name, weight in weights.items())


def run_buckets(spark: SparkSession, work: Work, of_bucket: OfBucket = worked) -> Iterator[dict[str, pa.Table]]:
    """The tables of a few buckets after the other. While their reader is busy with some, Spark works on the next few: a
    job for each bucket would cost a tenth of a second more each."""
    size = max(int(BUCKETS_FOR_CORE * spark.sparkContext.defaultParallelism), 1)
    first, *others = [range(len(work.spans))[start : start + size] for start in range(0, len(work.spans), size)]
    inputs = work.facts.cut(work.spans)

    def found(numbers: range) -> dict[str, pa.Table]:
        frame = spark.range(numbers.start, numbers.stop, 1, len(numbers))
        return unpacked(frame.mapInArrow(_task(_parts(work, inputs, numbers), of_bucket), RESULT).toArrow())

    if not others:
        yield found(first)
        return
    with ThreadPoolExecutor(1, "buckets") as pool:
        # Java ends its thread of ours with it.
        ahead = pool.submit(inheritable_thread_target(spark)(found), first)
        for numbers in others:
            tables = ahead.result()
            ahead = pool.submit(inheritable_thread_target(spark)(found), numbers)
            yield tables
        yield ahead.result()


def run_here(work: Work, of_bucket: OfBucket = worked) -> Iterator[dict[str, pa.Table]]:
    """The same without Spark, bucket after bucket."""
    inputs = work.facts.cut(work.spans)
    for number in range(len(work.spans)):
        numbers, parts = pa.RecordBatch.from_pydict({"id": [number]}), _parts(work, inputs, [number])
        yield unpacked(pa.Table.from_batches(_task(parts, of_bucket)(iter([numbers])), RESULT_SCHEMA))


def _parts(work: Work, inputs: Sequence[SliceInputs], numbers: Iterable[int]) -> dict[int, bytes]:
    """The work of each of these buckets, as bytes: a task unpacks its own."""
    return {number: pickle.dumps(replace(work, facts=inputs[number])) for number in numbers}


Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def _task(parts: Mapping[int, bytes], of_bucket: OfBucket) -> Task:
    def run(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch["id"].to_pylist():
                for name, table in of_bucket(pickle.loads(parts[number]), number).items():
                    yield from packed(name, table)

    return run


def unpacked(rows: pa.Table) -> dict[str, pa.Table]:
    """The tables whose pieces the rows are."""
    found = {}
    for name in pc.unique(rows["name"]).to_pylist():
        pieces = rows.filter(pc.equal(rows["name"], name))["payload"]
        found[name] = _one([pa.ipc.open_stream(piece.as_buffer()).read_all() for piece in pieces])
    return found


def joined(parts: Iterable[Mapping[str, pa.Table]]) -> dict[str, pa.Table]:
    """The tables of all parts, by name; each part has the same."""
    every = list(parts)
    return {name: _one([part[name] for part in every]) for name in every[0]}


def _one(tables: Sequence[pa.Table]) -> pa.Table:
    """Each bucket has numbers of its own for the same names."""
    return pa.concat_tables(tables).unify_dictionaries()


def packed(name: str, table: pa.Table) -> Iterator[pa.RecordBatch]:
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    for start in range(0, max(table.num_rows, 1), ROWS_IN_PIECE):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
            stream.write_table(table.slice(start, ROWS_IN_PIECE))
        payload = pa.array([sink.getvalue().to_pybytes()], pa.binary())
        yield pa.RecordBatch.from_arrays([pa.array([name]), payload], schema=RESULT_SCHEMA)
