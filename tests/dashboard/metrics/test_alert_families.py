"""What Prometheus is told of alerts."""

from typing import Any

import pytest

from dashboard.metrics.families import alert_families
from tests.alert_rows import a_channel, a_delivery, a_rule, an_evaluation, an_incident
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
AGE, FIRING, WAITING, FAILING = (
    f"consumerscope_alerts_{name}"
    for name in ("evaluation_age_seconds", "firing", "deliveries_waiting", "channel_failing_seconds")
)


@pytest.fixture(autouse=True)
def _every_fifteen_seconds(settings: Any) -> None:
    settings.ALERT_SECONDS = 15


def samples() -> dict[str, dict[tuple[str, ...], float]]:
    return {family.name: {tuple(labels): value for labels, value in family.samples} for family in alert_families(NOW)}


def test_it_tells_what_fires_by_severity_and_zero_where_nothing_does() -> None:
    an_evaluation(ago(20))
    rule, cluster = a_rule(severity="critical"), a_cluster()
    an_incident(rule, a_group(cluster, "audit"))
    an_incident(rule, a_group(cluster, "billing"))
    an_incident(rule, a_group(cluster, "pricing"), status="pending", fired_at=None)
    assert samples()[FIRING] == {("critical",): 2, ("warning",): 0, ("info",): 0}
    assert samples()[AGE] == {(): 20}


def test_what_fires_is_absent_where_rules_were_not_evaluated_lately() -> None:
    an_evaluation(ago(46))
    assert (samples()[AGE], samples()[FIRING]) == ({(): 46}, {})


def test_before_the_first_evaluation_nothing_is_told_of_it() -> None:
    assert (samples()[AGE], samples()[FIRING]) == ({}, {})


def test_it_counts_what_waits_in_every_channel() -> None:
    channel = a_channel()
    a_channel("calm")
    for status in ("waiting", "sending", "sent", "failed"):
        a_delivery(channel, status=status)
    assert samples()[WAITING] == {("calm",): 0, ("on call",): 2}


def test_it_tells_for_how_long_a_channel_takes_nothing_and_nothing_of_one_that_was_never_tried() -> None:
    a_channel("fails", failing_since=ago(120), failures=4, failing_why="500")
    a_channel("never tried")
    a_delivery(a_channel("well"), status="sent")
    assert samples()[FAILING] == {("fails",): 120, ("well",): 0}
