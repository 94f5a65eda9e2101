"""Rules that people write and remove."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from consumers.alerts.edits import remove_rule, save_rule
from consumers.alerts.fields import AlertRefused
from consumers.models import AlertRule, AuditEvent, Incident
from tests.alert_rows import a_channel, a_rule, an_incident
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
FIELDS: dict[str, Any] = {"name": "Far behind", "measure": "lag_messages", "comparison": "above", "threshold": 100}
FIELDS |= {"severity": "warning"}


@pytest.fixture
def bob() -> User:
    return User.objects.create_user("bob")


def noted() -> list[str]:
    return list(AuditEvent.objects.order_by("pk").values_list("sentence", flat=True))


def test_a_rule_is_kept_with_who_wrote_it(bob: User) -> None:
    save_rule(FIELDS, None, bob, NOW)
    rule = AlertRule.objects.get(name="Far behind")
    assert (rule.threshold, rule.changed_at, rule.changed_by_name) == (100.0, NOW, "bob")
    assert noted() == ["Made the rule."]


def test_a_change_leaves_what_it_does_not_name(bob: User) -> None:
    rule = a_rule(runbook_url="https://wiki.example.org/lag")
    save_rule({"threshold": 600}, rule, bob, NOW)
    rule.refresh_from_db()
    assert (rule.threshold, rule.runbook_url) == (600.0, "https://wiki.example.org/lag")
    assert noted() == ["Changed threshold."]


def test_what_is_refused_changes_nothing(bob: User) -> None:
    rule = a_rule()
    with pytest.raises(AlertRefused) as refusal:
        save_rule({"threshold": -1}, rule, bob, NOW)
    rule.refresh_from_db()
    assert (list(refusal.value.errors), rule.threshold, noted()) == (["threshold"], 300.0, [])


def test_incidents_outlive_their_rule(bob: User) -> None:
    rule = a_rule()
    incident = an_incident(rule, a_group(a_cluster()), status="resolved", resolved_at=ago(60))
    remove_rule(rule, bob, NOW)
    assert Incident.objects.get(pk=incident.pk).rule_name == "Far behind"
    assert noted() == ["Removed the rule."]


def test_a_rule_that_the_site_came_with_is_not_removed(bob: User) -> None:
    rule = a_rule(key="far_behind")
    with pytest.raises(AlertRefused, match="disable it instead"):
        remove_rule(rule, bob, NOW)
    assert AlertRule.objects.filter(pk=rule.pk).exists()


def test_a_rule_is_not_removed_while_a_channel_is_for_it_alone(bob: User) -> None:
    """Without it the channel would be for all rules."""
    rule, another = a_rule(), a_rule("Another")
    both, alone = a_channel("both"), a_channel("alone")
    both.rules.set([rule, another])
    alone.rules.set([rule])
    with pytest.raises(AlertRefused, match=r"would receive notifications of all rules: alone\."):
        remove_rule(rule, bob, NOW)
    alone.delete()
    remove_rule(rule, bob, NOW)
    assert list(both.rules.all()) == [another]
