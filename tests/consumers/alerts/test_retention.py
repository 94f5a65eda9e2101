"""What is long over is forgotten; what is kept is not, nor whom it was told to."""

from typing import Any

import pytest

from consumers.alerts.tasks import forget
from consumers.models import Delivery, DeliveryAttempt, Incident, IncidentEvent, RulePreview, Silence
from tests.alert_rows import (
    a_channel,
    a_delivery,
    a_preview,
    a_rule,
    a_silence,
    an_attempt,
    an_incident,
    an_incident_event as an_event,
)
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
DAY = 86400
OLD, YOUNG = ago(31 * DAY), ago(29 * DAY)


@pytest.fixture(autouse=True)
def _thirty_days(settings: Any) -> None:
    settings.ALERT_HISTORY_DAYS = 30


def told_incident(name: str, **fields: Any) -> Incident:
    """One that fired long ago, with its message."""
    group, rule = a_group(a_cluster(name)), a_rule(name)
    incident = an_incident(rule, group, started_at=ago(90 * DAY), **fields)
    delivery = a_delivery(a_channel(name), an_event(incident), created_at=ago(90 * DAY))
    an_attempt(delivery)
    return incident


def test_an_incident_goes_with_its_events_and_messages_once_it_is_long_over() -> None:
    told_incident("old", status="resolved", resolved_at=OLD)
    young = told_incident("young", status="resolved", resolved_at=YOUNG)
    forget(NOW)
    assert list(Incident.objects.all()) == [young]
    assert list(IncidentEvent.objects.values_list("incident__rule_name", flat=True)) == ["young"]
    assert list(Delivery.objects.values_list("channel__name", flat=True)) == ["young"]
    assert DeliveryAttempt.objects.count() == 1


def test_an_open_incident_stays_with_its_messages_however_old() -> None:
    told_incident("old")
    forget(NOW)
    assert (Incident.objects.count(), Delivery.objects.count(), DeliveryAttempt.objects.count()) == (1, 1, 1)


@pytest.mark.parametrize(("status", "stays"), [("waiting", 1), ("sending", 1), ("sent", 0), ("failed", 0)])
def test_a_message_goes_once_it_has_ended(status: str, stays: int) -> None:
    a_delivery(a_channel(), created_at=OLD, status=status)
    assert (forget(NOW), Delivery.objects.count()) == (1 - stays, stays)


def test_previews_and_silences_go_too() -> None:
    RulePreview.objects.filter(pk=a_preview().pk).update(created_at=OLD)
    a_silence(ends_at=OLD, starts_at=ago(40 * DAY))
    kept = a_preview(), a_silence(ends_at=YOUNG)
    assert forget(NOW) == 2
    assert (RulePreview.objects.get(), Silence.objects.get()) == kept


def test_many_are_forgotten_in_short_transactions(monkeypatch: Any) -> None:
    monkeypatch.setattr("consumers.alerts.tasks.AT_ONCE", 2)
    for number in range(5):
        a_silence(reason=str(number), ends_at=OLD, starts_at=ago(40 * DAY))
    assert (forget(NOW), Silence.objects.count()) == (5, 0)


def test_a_silence_stays_while_an_open_incident_was_not_evaluated_since() -> None:
    silence, _ = (a_silence(ends_at=OLD, starts_at=ago(40 * DAY)) for _ in range(2))
    cluster = a_cluster()
    an_incident(a_rule(), a_group(cluster), silence=silence)
    an_incident(a_rule("Another"), a_group(cluster, "search"))
    assert (forget(NOW), Silence.objects.get()) == (1, silence)
