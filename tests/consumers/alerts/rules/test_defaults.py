"""The rules that the site comes with."""

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from consumers.alerts.rule_fields import checked_rule
from consumers.models import AlertRule
from tests.alert_rows import a_rule

pytestmark = pytest.mark.django_db
DEFAULTS = import_module("consumers.migrations.0003_rules")
WRITTEN = (
    "measure",
    "comparison",
    "threshold",
    "states",
    "clear_threshold",
    "for_seconds",
    "severity",
    "note",
    "findings",
)


@pytest.fixture
def rules() -> list[AlertRule]:
    DEFAULTS.make(apps, None)
    return list(AlertRule.objects.all())


def test_each_passes_what_a_rule_of_people_must_pass(rules: list[AlertRule]) -> None:
    for rule in rules:
        kept = checked_rule({}, rule)
        assert {name: kept[name] for name in WRITTEN} == {name: getattr(rule, name) for name in WRITTEN}
    assert len(rules) == len(DEFAULTS.RULES) == 29
    assert sum(rule.enabled for rule in rules) == 22


def test_they_are_made_once(rules: list[AlertRule]) -> None:
    keys = ("stalled", "unsettled", "offsets_lost")
    for key in keys:
        AlertRule.objects.filter(key=key).update(name=f"Our {key}", for_seconds=60)
    DEFAULTS.make(apps, None)
    assert [AlertRule.objects.get(key=key).name for key in keys] == [f"Our {key}" for key in keys]
    assert AlertRule.objects.count() == len(rules)


def test_a_rule_of_people_with_the_name_of_one_stays_as_it_is() -> None:
    a_rule("Group not stabilising", measure="rebalance_episodes_hour", threshold=9)
    DEFAULTS.make(apps, None)
    assert list(AlertRule.objects.filter(name="Group not stabilising").values_list("key", "threshold")) == [(None, 9)]


def test_members_that_go_on_changing_are_told_from_when_pages_say_that_they_do_not_settle(settings: Any) -> None:
    settings.JUDGE = settings.JUDGE | {"unsettled_after_seconds": 900}
    DEFAULTS.make(apps, None)
    assert AlertRule.objects.get(key="unsettled").threshold == 900


def test_one_stall_is_told_by_one_of_those_that_are_on(rules: list[AlertRule]) -> None:
    """A queue that stands for ten minutes, owned or not, behind by an hour and half a million messages."""
    values: dict[str, Any] = {"time_lag_seconds": 3600, "lag_messages": 500_000, "unowned_queues": 1}
    values |= {"blocked_seconds": 600, "members": 2, "unknown_seconds": 0, "expires_in_seconds": 70 * 3600}
    values["expires_unconsumed_seconds"] = 71 * 3600
    told = [
        rule.key
        for rule in rules
        if rule.enabled
        and (
            "STALL" in (rule.states or ())
            or (rule.comparison == "above" and values.get(rule.measure, 0) > rule.threshold)
            or (rule.comparison == "below" and values.get(rule.measure, 0) < rule.threshold)
        )
    ]
    assert told == ["stalled"]


def test_lost_offsets_are_critical_at_once(rules: list[AlertRule]) -> None:
    rule = AlertRule.objects.get(key="offsets_lost")
    assert (rule.name, rule.measure, rule.threshold) == ("Offsets lost", "lost_queues", 0)
    assert (rule.enabled, rule.severity, rule.for_seconds) == (True, "critical", 0)


def test_they_can_be_taken_back(rules: list[AlertRule]) -> None:
    a_rule("Ours", measure="lost_queues", threshold=9)
    DEFAULTS.remove(apps, None)
    assert [rule.name for rule in AlertRule.objects.all()] == ["Ours"]
