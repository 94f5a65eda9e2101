"""Rounds that come twice, too late, or fail in the middle."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consumers.alerts.evaluation.run import Report, go_round
from consumers.models import AlertEngine, AlertRule, Channel, Delivery, Incident, IncidentEvent
from tests.alert_rounds import Values, a_round, told
from tests.alert_rows import a_channel, a_rule, an_evaluation
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db
LATE = Values({"billing": 620.0})


@pytest.fixture
def rule() -> AlertRule:
    return a_rule(for_seconds=0)


def written() -> tuple[int, int, int]:
    return Incident.objects.count(), IncidentEvent.objects.count(), Delivery.objects.count()


def test_an_evaluation_that_lost_its_turn_writes_nothing(rule: AlertRule) -> None:
    a_channel()
    an_evaluation(ago(15))
    report = go_round(LATE.measured(NOW), [rule], ago(30), lambda: 0.1)
    assert (report, written()) == (
        Report(NOW, evaluated=False, rules=0, groups=0, fired=0, resolved=0, deliveries=0),
        (0, 0, 0),
    )


def test_the_engine_tells_what_was_evaluated(rule: AlertRule) -> None:
    an_evaluation(ago(15), error="the database is locked", error_at=ago(1))
    a_round(NOW, Values({"billing": 620.0, "search": None}), rule)
    engine = AlertEngine.objects.get()
    assert (engine.evaluated_at, engine.rules, engine.groups, engine.seconds) == (NOW, 1, 2, 0.1)
    assert (engine.error, engine.error_at) == (None, None)


def test_a_round_that_fails_half_way_leaves_nothing(rule: AlertRule) -> None:
    a_channel()
    an_evaluation(ago(15))

    def fails() -> float:
        raise OSError("killed")

    with pytest.raises(OSError, match="killed"):
        go_round(LATE.measured(NOW), [rule], ago(15), fails)
    assert (written(), AlertEngine.objects.get().evaluated_at) == ((0, 0, 0), ago(15))


def test_a_rule_that_is_removed_meanwhile_begins_nothing(rule: AlertRule) -> None:
    a_channel()
    kept = a_rule("Also far behind", for_seconds=0)
    an_evaluation(ago(15))
    AlertRule.objects.filter(pk=rule.pk).delete()
    report = go_round(LATE.measured(NOW), [rule, kept], ago(15), lambda: 0.1)
    assert (report.fired, written()) == (1, (1, 1, 1))


@pytest.mark.parametrize("meanwhile", [lambda: None, lambda: Channel.objects.update(enabled=False)])
def test_a_restart_between_rounds_changes_nothing(rule: AlertRule, meanwhile: Callable[[], None]) -> None:
    a_channel()
    a_round(ago(15), LATE, rule)
    before, earlier_notifications = written(), told()
    meanwhile()
    again = AlertRule.objects.get(pk=rule.pk)
    a_round(NOW, LATE, again)
    assert (written(), told()) == (before, earlier_notifications)


def test_events_of_people_and_of_rounds_share_one_row_of_numbers(rule: AlertRule) -> None:
    a_round(ago(15), LATE, rule)
    incident = Incident.objects.get()
    IncidentEvent.objects.create(incident=incident, sequence=2, at=ago(10), kind="acknowledged", sentence="I look.")
    a_round(NOW, Values({"billing": None}), rule)
    kinds = IncidentEvent.objects.order_by("sequence").values_list("sequence", "kind")
    assert list(kinds) == [(1, "firing"), (2, "acknowledged"), (3, "unknown")]


def test_what_people_did_meanwhile_stays(rule: AlertRule) -> None:
    a_round(ago(15), LATE, rule)
    Incident.objects.update(acknowledged_at=ago(10), acknowledged_by_name="ann", acknowledgement="I look.")
    a_round(NOW, Values({"billing": 700.0}), rule)
    incident = Incident.objects.get()
    assert (incident.value, incident.acknowledged_by_name, incident.acknowledged_at) == (700.0, "ann", ago(10))


def test_rules_are_held_before_their_incidents_also_where_nothing_begins(rule: AlertRule) -> None:
    """Who removes a rule holds it first too: in another order the two would wait for each other."""
    a_round(ago(15), LATE, rule)
    with CaptureQueriesContext(connection) as asked:
        a_round(NOW, Values({"billing": 700.0}), rule)
    steps = ['FROM "consumers_alertrule"', 'INSERT INTO "consumers_incident"']
    order = [step for one in asked for step in steps if step in one["sql"]]
    assert order == steps
