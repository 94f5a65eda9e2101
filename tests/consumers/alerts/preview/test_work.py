"""A preview is taken by one worker, and ends with a result or with a sentence."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from consumers.alerts.preview.work import work_on
from consumers.models import RulePreview
from tests.alert_rows import a_preview
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


def now() -> Any:
    return NOW


def no_session() -> SparkSession:
    raise RuntimeError("No Java.\n at org.example.Stack")


@pytest.mark.spark
def test_it_keeps_the_answer(spark: SparkSession, settings: Any, tmp_path: Any) -> None:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    a_group(a_cluster())
    row = a_preview(since=ago(3600))
    work_on(row.pk, now, lambda: spark)
    row.refresh_from_db()
    assert (row.status, row.error, row.finished_at) == ("done", None, NOW)
    assert row.seconds is not None
    assert row.seconds > 0
    assert (row.result["fired"], row.result["unknown_share"]) == (0, 1)


def test_what_fails_is_kept_as_a_sentence_and_raised() -> None:
    row = a_preview()
    with pytest.raises(RuntimeError, match="No Java"):
        work_on(row.pk, now, no_session)
    row.refresh_from_db()
    assert (row.status, row.result) == ("failed", None)
    assert row.error.startswith("The run failed for an unexpected reason (RuntimeError: No Java.)")


@pytest.mark.parametrize("status", ["running", "done", "failed"])
def test_only_what_waits_is_taken(status: str) -> None:
    row = a_preview(status=status)
    work_on(row.pk, now, no_session)
    assert RulePreview.objects.get(pk=row.pk).status == status
