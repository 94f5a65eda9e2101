"""A run that takes too long is cancelled; one that does not let go ends the process."""

import threading

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from consumers.pipeline.site import bounded

pytestmark = pytest.mark.spark


def test_it_cancels_the_jobs_of_a_run_that_takes_too_long(spark):
    endless = spark.range(10**15).select(F.max(F.xxhash64("id")))
    with pytest.raises(Exception, match="cancelled"), bounded(spark, 1.0):  # noqa: PT012
        try:
            endless.collect()
        except PySparkException as error:
            raise RuntimeError(str(error)) from error


def test_a_job_that_is_begun_after_that_does_not_run(spark):
    cancelled = threading.Event()
    given_up = bounded(spark, 0.05, grace_seconds=0, leave=cancelled.set)
    with given_up, pytest.raises(Exception, match="cancelled"):  # noqa: PT012
        assert cancelled.wait(120)
        spark.range(3).count()


def test_it_leaves_when_the_run_does_not_end(spark):
    left = threading.Event()
    with bounded(spark, 0.05, grace_seconds=0.05, leave=left.set):
        assert left.wait(120)


def test_a_run_in_time_is_left_alone(spark):
    left = threading.Event()
    with bounded(spark, 60, leave=left.set):
        assert spark.range(3).count() == 3
    assert not left.is_set()
