"""What evaluations found beside a replay, and why the two differ."""

from datetime import timedelta

import pytest

from consumers.alerts.preview.compared import Fired, Replay, evaluated, reasons
from consumers.alerts.preview.request import chosen
from consumers.alerts.preview.values import Grid
from tests.alert_rows import a_rule, an_incident, of_group
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db

HOUR = 3600


def looked_at(rule, replayed=(), *, hours=24, step=60):
    grid = Grid(ago(hours * HOUR), NOW, step)
    return evaluated(rule, chosen(rule, NOW), grid, list(replayed))


def fired(group, since, until=None):
    return Fired(of_group(group).key, ago(since), None if until is None else ago(until))


def over(fired_at, resolved_at):
    return {"status": "resolved", "started_at": ago(fired_at + 300), "fired_at": ago(fired_at)} | {
        "resolved_at": ago(resolved_at),
        "ending": "recovered",
    }


def sentences(found, rule, *, step=60, unknown_share=0.0, excluded=0, hours=24):
    grid = Grid(ago(hours * HOUR), NOW, step)
    return reasons(found, Replay(rule, grid, unknown_share, excluded), NOW)


def test_the_same_firings_do_not_differ():
    rule, group = a_rule(changed_at=ago(90 * HOUR)), a_group(a_cluster(), "billing")
    an_incident(rule, group, **over(7200, 3600))
    an_incident(rule, group, fired_at=ago(300))
    found = looked_at(rule, [fired(group, 7230, 3700), fired(group, 240)])
    assert (found.fired, found.fired_before, found.only_replayed, found.only_evaluated) == (2, 0, [], [])
    assert sentences(found, rule) == []


def test_what_only_one_of_the_two_found_is_told_apart():
    rule, cluster = a_rule(changed_at=ago(90 * HOUR)), a_cluster()
    billing, audit = a_group(cluster, "billing"), a_group(cluster, "audit")
    an_incident(rule, billing, **over(7200, 3600))
    found = looked_at(rule, [fired(audit, 7200, 3600), fired(billing, 3000, 2000)])
    assert [one.key for one in found.only_replayed] == [of_group(audit).key, of_group(billing).key]
    assert [one.since for one in found.only_evaluated] == [ago(7200)]
    assert sentences(found, rule) == [
        "The stored data does not show why: rules may not have been evaluated, or a value changed between two windows."
    ]


@pytest.mark.parametrize(("replayed", "only"), [(3480, 0), (3479, 1)])
def test_two_minutes_between_them_are_none(replayed, only):
    rule, group = a_rule(), a_group(a_cluster(), "billing")
    an_incident(rule, group, **over(7200, 3600))
    assert len(looked_at(rule, [fired(group, replayed, 60)]).only_replayed) == only


def test_only_what_went_on_in_the_range_counts():
    rule, group = a_rule(), a_group(a_cluster(), "billing")
    an_incident(rule, group, **over(30 * HOUR, 25 * HOUR))
    an_incident(rule, group, **over(24.5 * HOUR, 23 * HOUR))
    an_incident(rule, group, status="pending", fired_at=None)
    an_incident(a_rule("Another"), group, **over(7200, 3600))
    found = looked_at(rule, [fired(group, 24 * HOUR, 23 * HOUR)])
    assert (found.fired, found.fired_before, len(found.incidents)) == (0, 1, 1)
    assert not found.differs


def test_without_a_kept_rule_of_the_name_there_is_nothing_to_compare():
    rule = a_rule()
    rule.name = ""
    assert looked_at(rule) is None
    rule.name = "Another"
    assert looked_at(rule) is None


def test_it_says_how_the_rule_is_not_the_one_that_is_kept():
    kept, group = a_rule(enabled=False, changed_at=ago(HOUR)), a_group(a_cluster(), "billing")
    asked = a_rule("Asked", threshold=600, clear_seconds=60)
    asked.name = kept.name
    found = looked_at(asked, [fired(group, 240)])
    assert sentences(found, asked) == [
        "The preview differs from the saved rule in: threshold, clear_seconds.",
        "The saved rule was last changed at 2026-03-14 02:00:00 UTC: it may have been different before, or may not "
        "have existed.",
        "The saved rule is disabled.",
    ]


def test_it_says_what_of_the_range_may_have_led_to_it(settings):
    settings.ALERT_HISTORY_DAYS = 2
    rule, group = a_rule(changed_at=ago(9000 * HOUR), group_pattern="bill*"), a_group(a_cluster(), "billing")
    an_incident(rule, a_group(group.cluster, "gone"), **over(7200, 3600))
    found = looked_at(rule, [fired(group, 240)], hours=96, step=600)
    assert found.elsewhere == 1
    assert sentences(found, rule, step=600, unknown_share=0.1, excluded=2, hours=96) == [
        "Of groups that the rule excludes: 2 firings of the replay.",
        "Of subjects that are gone, or that the rule does not select today: 1 incident.",
        "Some values in the range are unknown.",
        "Conditions shorter than 10 min are not visible here.",
        "Incidents are retained for 2 days.",
    ]


def test_two_firings_within_one_incident_are_that_incident():
    rule, group = a_rule(), a_group(a_cluster(), "billing")
    an_incident(rule, group, **over(7200, 3600))
    found = looked_at(rule, [fired(group, 7200, 6000), fired(group, 5000, 3600)])
    assert not found.differs
    assert found.incidents[0].resolved_at - found.incidents[0].fired_at == timedelta(hours=1)
