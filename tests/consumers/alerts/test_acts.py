"""Somebody says that they look after an incident, and takes that back."""

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied

from consumers.alerts.edits import acknowledge, unacknowledge
from consumers.alerts.fields import AlertRefused
from consumers.models import AuditEvent, Incident
from consumers.words.reasons import stored_words
from tests.alert_rows import a_rule, an_incident, an_incident_event
from tests.world import NOW, a_cluster, a_group, ago


def somebody(name: str, role: str = "operator") -> User:
    user = User.objects.create_user(name)
    user.groups.add(Group.objects.get(name=role))
    return user


@pytest.fixture
def ann(db: None) -> User:
    return somebody("ann")


@pytest.fixture
def incident(db: None) -> Incident:
    row = an_incident(a_rule(), a_group(a_cluster()))
    an_incident_event(row)
    return row


def events(incident: Incident) -> list[tuple[int, str, str | None]]:
    return list(incident.events.order_by("sequence").values_list("sequence", "kind", "by_name"))


def test_it_says_who_looks_after_it_since_when(incident: Incident, ann: User) -> None:
    acknowledge(incident, ann, "  I restart a member. ", NOW)
    incident.refresh_from_db()
    assert (incident.acknowledged_at, incident.acknowledged_by_name) == (NOW, "ann")
    assert (incident.acknowledgement, incident.status) == ("I restart a member.", "firing")
    assert events(incident) == [(1, "firing", None), (2, "acknowledged", "ann")]
    assert stored_words(incident.events.get(sequence=2).sentence) == "Acknowledged: I restart a member."
    assert stored_words(AuditEvent.objects.get().sentence) == "Acknowledged: I restart a member."


def test_a_second_click_changes_nothing(incident: Incident, ann: User) -> None:
    acknowledge(incident, ann, "I look.", ago(10))
    acknowledge(incident, ann, "I look.", NOW)
    assert (len(events(incident)), incident.acknowledged_at) == (2, ago(10))


def test_somebody_else_takes_over(incident: Incident, ann: User) -> None:
    acknowledge(incident, ann, "", ago(10))
    acknowledge(incident, somebody("bob"), "My turn.", NOW)
    assert (incident.acknowledged_by_name, incident.acknowledgement) == ("bob", "My turn.")
    assert events(incident)[1:] == [(2, "acknowledged", "ann"), (3, "acknowledged", "bob")]


def test_it_is_taken_back(incident: Incident, ann: User) -> None:
    acknowledge(incident, ann, "I look.", ago(10))
    unacknowledge(incident, ann, NOW)
    incident.refresh_from_db()
    assert (incident.acknowledged_at, incident.acknowledged_by, incident.acknowledgement) == (None, None, "")
    assert events(incident)[-1] == (3, "unacknowledged", "ann")


@pytest.mark.parametrize(("status", "why"), [("pending", "this one is pending"), ("resolved", "this one is resolved")])
def test_only_what_fires_is_acknowledged(incident: Incident, ann: User, status: str, why: str) -> None:
    Incident.objects.update(status=status)
    with pytest.raises(AlertRefused, match=why):
        acknowledge(incident, ann, "", NOW)
    assert len(events(incident)) == 1


def test_what_nobody_acknowledged_is_not_taken_back(incident: Incident, ann: User) -> None:
    with pytest.raises(AlertRefused, match="The incident is not acknowledged"):
        unacknowledge(incident, ann, NOW)


def test_a_viewer_may_not(incident: Incident) -> None:
    viewer = somebody("eve", "viewer")
    with pytest.raises(PermissionDenied, match="manage_alerts"):
        acknowledge(incident, viewer, "", NOW)
    with pytest.raises(PermissionDenied, match="manage_alerts"):
        unacknowledge(incident, viewer, NOW)


@pytest.mark.parametrize("text", ["x" * 2001, "a\x00b"])
def test_a_text_that_cannot_be_kept_is_refused(incident: Incident, ann: User, text: str) -> None:
    with pytest.raises(AlertRefused) as refusal:
        acknowledge(incident, ann, text, NOW)
    assert set(refusal.value.errors) == {"text"}


def test_an_incident_that_was_forgotten_meanwhile_is_said_to_be_over(incident: Incident, ann: User) -> None:
    an_incident(a_rule("Another"), a_group(a_cluster("staging")))
    Incident.objects.filter(pk=incident.pk).delete()
    with pytest.raises(AlertRefused, match="The incident is resolved and no longer retained"):
        acknowledge(incident, ann, "", NOW)
