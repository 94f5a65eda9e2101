"""One lazy Spark session for all tests: a run without Spark tests never starts a JVM.

What a run of the pipeline computes and writes does not depend on Spark, which only places its buckets: such tests take
`without_spark`. That Spark leaves the same is tested in tests/consumers/pipeline/test_spark_run.py and on a cluster.
"""

import shutil
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

# One piece a shuffle: a handful of rows in each test, and a task for each of 200 pieces would cost seconds.
SMALL = {
    "spark.sql.adaptive.enabled": "false",
    # Plans are compiled anew in every test and run over a few rows: the second compiler takes more than it gives back.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@pytest.fixture(scope="session")
def _session() -> Iterator[SparkSession]:
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    from consumers.pipeline.spark import session

    made = session("local[2]", "1g", partitions=1, extra=SMALL)
    yield made
    made.stop()


@pytest.fixture
def spark(_session: SparkSession) -> Iterator[SparkSession]:
    yield _session
    _session.catalog.clearCache()


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stands for a session of two cores in `consumers.pipeline.job.run`: this process computes the buckets."""
    from consumers.pipeline import job
    from consumers.pipeline.spark import run_buckets, run_here

    stand_in = SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=2))
    monkeypatch.setattr(
        job, "run_buckets", lambda given, work: run_here(work) if given is stand_in else run_buckets(given, work)
    )
    return stand_in
