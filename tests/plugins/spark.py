"""One lazy Spark session for all tests: a run without Spark tests never starts a JVM."""

import shutil
from collections.abc import Iterator

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
