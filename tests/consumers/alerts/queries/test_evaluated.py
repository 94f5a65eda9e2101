"""How many incidents fire is told only where rules were evaluated lately."""

from typing import Any

import pytest

from consumers.queries.limits import Freshness, evaluated, why_not_evaluated
from tests.alert_rows import a_rule, an_evaluation, an_incident
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _every_fifteen_seconds(settings: Any) -> None:
    settings.ALERT_SECONDS = 15


def test_it_counts_what_fires_and_is_not_acknowledged() -> None:
    an_evaluation(ago(20))
    rule, cluster = a_rule(), a_cluster()
    an_incident(rule, a_group(cluster, "audit"))
    an_incident(rule, a_group(cluster, "billing"), acknowledged_at=ago(60))
    an_incident(rule, a_group(cluster, "pricing"), status="pending", fired_at=None)
    an_incident(rule, a_group(cluster, "search"), status="resolved", resolved_at=ago(10))
    row = evaluated(NOW)
    assert (row.firing, row.unacknowledged, row.pending) == (2, 1, 1)
    assert (row.freshness, row.unknown) == (Freshness.FRESH, {})


def test_nothing_fires_is_a_zero_only_where_it_was_evaluated() -> None:
    an_evaluation(ago(45))
    assert evaluated(NOW).firing == 0
    an_evaluation(ago(46))
    late = evaluated(NOW)
    assert (late.firing, late.at, late.freshness) == (None, ago(46), Freshness.SILENT)
    assert late.unknown["firing"] == "alert rules have not been evaluated for too long"


def test_before_the_first_evaluation_nothing_is_known() -> None:
    row = evaluated(NOW)
    assert (row.at, row.firing, row.pending, row.unacknowledged) == (None, None, None, None)
    assert row.freshness_detail == why_not_evaluated(NOW) == "alert rules have not been evaluated yet"


def test_a_failed_try_is_told_before_counts_are_too_old() -> None:
    an_evaluation(ago(20), error="the database is locked", error_at=ago(5))
    row = evaluated(NOW)
    assert (row.freshness, row.firing) == (Freshness.LATE, 0)
    assert row.freshness_detail == "the newest evaluation of alert rules failed: the database is locked"
    assert why_not_evaluated(NOW) is None
