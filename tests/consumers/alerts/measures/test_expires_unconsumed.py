"""When messages expire before the group consumes them: a time, none within 30 days, or unknown."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.alerts.evaluation.run import evaluate
from consumers.models import AlertRule, Cluster, GroupState, Incident, Measure
from consumers.words.reasons import stored_words
from tests.alert_rows import a_rule
from tests.consumers.alerts.measures.group_rows import a_behind_group, a_judged_cluster, of_group
from tests.world import NOW

pytestmark = pytest.mark.django_db
HOUR = 3600.0
MONTH = 720 * HOUR
NONE_EXPECTED = "not expected: the time lag does not rise towards the retention"


@pytest.fixture
def cluster() -> Cluster:
    return a_judged_cluster()


@pytest.mark.parametrize(
    ("lag", "forecast", "seconds", "value", "words"),
    [
        (9, "expected", 7200.0, 7200.0, "messages may be deleted before consumption in 2 h at this pace"),
        (9, "expected", 0.0, 0.0, "the oldest unconsumed message may be deleted already"),
        (9, "at_most", 7200.0, 7200.0, "messages may be deleted before consumption in 2 h at this pace"),
        (9, "none", None, MONTH, NONE_EXPECTED),
        (0, "expected", 7200.0, MONTH, NONE_EXPECTED),
        (9, "no_retention", None, None, "the message retention of a broker is unknown"),
        (9, "no_time_lag", None, None, "the time lag of a queue is unknown"),
        (9, "no_trend", None, None, "the trend of a queue's time lag is unknown"),
        (9, "unknown", None, None, "the trend of the time lag, or the retention of a broker, is unknown"),
        (None, "none", None, None, "not read"),
        (None, "expected", 7200.0, None, "not read"),
        (None, "at_most", 7200.0, 7200.0, "messages may be deleted before consumption in 2 h at this pace"),
    ],
)
def test_it_is_the_forecast_of_the_evaluation(
    cluster: Cluster, lag: int | None, forecast: str, seconds: float | None, value: float | None, words: str
) -> None:
    a_behind_group(cluster, lag, expiry_forecast=forecast, expires_unconsumed_seconds=seconds)
    assert of_group(Measure.EXPIRES_UNCONSUMED) == (value, words)


def test_a_group_that_keeps_its_progress_elsewhere_has_no_forecast(cluster: Cluster) -> None:
    fields = {"expiry_forecast": "at_most", "expires_unconsumed_seconds": 7200.0}
    a_behind_group(cluster, None, outside_store="RedisStore", **fields)
    value, words = of_group(Measure.EXPIRES_UNCONSUMED)
    assert (value, "RedisStore" in words) == (None, True)


def test_a_forecast_that_is_too_old_is_unknown(cluster: Cluster) -> None:
    group = a_behind_group(cluster, expiry_forecast="expected", expires_unconsumed_seconds=7200.0)
    GroupState.objects.filter(group=group).update(judged_at=NOW - timedelta(hours=1))
    value, words = of_group(Measure.EXPIRES_UNCONSUMED)
    assert (value, words) == (None, "not evaluated since 2026-03-14 02:00:00 UTC")


def test_a_group_that_is_offline_by_habit_is_excluded(cluster: Cluster) -> None:
    a_behind_group(cluster, rule="offline_by_habit", expiry_forecast="expected", expires_unconsumed_seconds=7200.0)
    assert of_group(Measure.EXPIRES_UNCONSUMED) == (
        7200.0,
        "offline by habit, and its time lag is within its usual maximum",
    )


def statuses(seconds: int, **judged: Any) -> list[str]:
    """Of all incidents, after an evaluation so much later."""
    GroupState.objects.update(judged_at=NOW, **judged)
    evaluate(NOW + timedelta(seconds=seconds), lambda: NOW)
    return [incident.status for incident in Incident.objects.all()]


def test_a_bound_fires_and_resolves_nothing(cluster: Cluster) -> None:
    AlertRule.objects.all().delete()
    a_rule(measure="expires_unconsumed_seconds", comparison="below", threshold=HOUR, for_seconds=0, clear_seconds=0)
    a_behind_group(cluster)
    assert statuses(1, expiry_forecast="at_most", expires_unconsumed_seconds=2 * HOUR) == []
    assert statuses(2, expiry_forecast="at_most", expires_unconsumed_seconds=600.0) == ["firing"]
    assert statuses(3, expiry_forecast="at_most", expires_unconsumed_seconds=2 * HOUR) == ["firing"]
    doubted = Incident.objects.get()
    words = "messages may be deleted before consumption in 2 h at most; a queue is unknown"
    assert (doubted.value, stored_words(doubted.unknown_reason)) == (600.0, words)
    assert statuses(4, expiry_forecast="expected", expires_unconsumed_seconds=2 * HOUR) == ["resolved"]
