"""Evaluations of what stands in the rows of a site."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from consumers.alerts.evaluation.run import evaluate
from consumers.models import AlertEngine, AlertRule, Cluster, Delivery, GroupState, Incident, PipelineRun
from consumers.words.reasons import stored_words
from tests.alert_rounds import told
from tests.alert_rows import a_channel, a_rule
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_reading, a_total, ago

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _only_rules_of_the_test(db: None) -> None:
    AlertRule.objects.all().delete()


@pytest.fixture
def cluster() -> Cluster:
    """With one group that is ten minutes behind, as of ten minutes ago."""
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    group = a_group(cluster)
    a_total(group, 4200)
    a_judged_group(group, "STALL", time_lag_seconds=600.0, since=ago(700))
    read_and_judged(cluster, ago(600))
    return cluster


def read_and_judged(cluster: Cluster, at: datetime) -> None:
    a_reading(cluster, at)
    cluster.brokers.update(last_read_at=at)
    GroupState.objects.update(judged_at=at)
    span = {"since": at - timedelta(minutes=1), "started_at": at, "finished_at": at}
    PipelineRun.objects.create(until=at, **span)


def clock() -> datetime:
    return NOW


def test_a_rule_is_evaluated_over_stored_rows(cluster: Cluster) -> None:
    a_rule(states=["STALL"], measure="state", comparison="in", threshold=None, for_seconds=60)
    a_channel()
    report = evaluate(ago(590), clock)
    incident = Incident.objects.get()
    assert (report.evaluated, report.rules, report.groups, report.fired, report.deliveries) == (True, 1, 1, 1, 1)
    assert (incident.state, incident.started_at, incident.status) == ("STALL", ago(700), "firing")
    assert stored_words(incident.events.get().sentence).startswith(
        "prod/billing: STALL since 2026-03-14 02:48:20 UTC: "
    )


def test_rules_that_are_switched_off_are_not_evaluated(cluster: Cluster) -> None:
    a_rule(for_seconds=0, enabled=False)
    assert (evaluate(ago(590), clock).rules, Incident.objects.count()) == (0, 0)


def test_the_same_moment_again_or_an_earlier_one_is_left_out(cluster: Cluster) -> None:
    a_rule(for_seconds=0)
    a_channel()
    evaluate(ago(590), clock)
    for seconds in (590, 600):
        assert not evaluate(ago(seconds), clock).evaluated
    assert (told(), Delivery.objects.count()) == ([("firing", "billing")], 1)
    assert AlertEngine.objects.get().error is None


def test_a_clock_that_went_back_is_told_and_goes_on_when_it_has_caught_up(cluster: Cluster) -> None:
    evaluate(NOW, clock)
    assert not evaluate(ago(61), clock).evaluated
    engine = AlertEngine.objects.get()
    assert (engine.evaluated_at, engine.error_at) == (NOW, ago(61))
    assert engine.error is not None
    assert engine.error.startswith("Rules were evaluated for 2026-03-14 03:00:00 UTC, and this host's clock is behind")
    evaluate(ago(-15), clock)
    assert AlertEngine.objects.get().error is None


def test_after_a_clock_that_ran_ahead_evaluation_goes_on_where_somebody_says_so(cluster: Cluster) -> None:
    a_rule(for_seconds=0, clear_seconds=0)
    evaluate(ago(570), clock)
    AlertEngine.objects.update(evaluated_at=None)
    assert evaluate(ago(590), clock).evaluated
    assert (AlertEngine.objects.get().evaluated_at, told()) == (ago(590), [("firing", "billing")])


def test_a_failure_is_raised_and_stays_in_the_row_until_the_next_good_evaluation(cluster: Cluster) -> None:
    evaluate(ago(590), clock)
    broken = a_rule(measure="no such measure")
    with pytest.raises(ValueError, match="no such measure"):
        evaluate(ago(575), clock)
    engine = AlertEngine.objects.get()
    assert (engine.evaluated_at, engine.error_at) == (ago(590), ago(575))
    assert engine.error == "ValueError: 'no such measure' is not a valid Measure"
    broken.delete()
    evaluate(ago(560), clock)
    assert AlertEngine.objects.get().error is None


def test_what_is_not_read_any_more_ends_nothing_and_is_noted_once(cluster: Cluster) -> None:
    a_rule(for_seconds=0, clear_seconds=0)
    evaluate(ago(590), clock)
    for seconds in (300, 285, 270):
        evaluate(ago(seconds), clock)
    incident = Incident.objects.get()
    assert told() == [("firing", "billing"), ("unknown", "billing")]
    assert (incident.status, incident.unknown_since, bool(incident.unknown_reason)) == ("firing", ago(300), True)


def test_a_group_whose_row_is_gone_ends_its_incident(cluster: Cluster) -> None:
    a_rule(for_seconds=0)
    evaluate(ago(590), clock)
    cluster.groups.all().delete()
    evaluate(ago(575), clock)
    assert Incident.objects.get().ending == "gone"


def test_it_takes_as_many_queries_for_many_changes_as_for_few(
    cluster: Cluster, django_assert_max_num_queries: Any
) -> None:
    a_rule(for_seconds=0)
    a_channel()
    for number in range(60):
        group = a_group(cluster, f"group-{number}")
        a_total(group, 4200)
        a_judged_group(group, "STALL", time_lag_seconds=600.0, judged_at=ago(600))
    with django_assert_max_num_queries(60):
        assert evaluate(ago(590), clock).fired == 61
