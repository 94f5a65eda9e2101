"""Incidents over several rounds: each begins once and ends once, whatever comes in between.

The rule: more than 300 s behind for 60 s; over after 60 s at 200 s or less.
"""

import pytest

from consumers.models import AlertRule, ConsumerGroup, Incident, Measure
from consumers.words.reasons import stored_words
from tests.alert_rounds import SILENT, Values, a_round, told
from tests.alert_rows import a_note, a_rule
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
LATE, FINE = 620.0, 12.0


@pytest.fixture
def group() -> ConsumerGroup:
    return a_group(a_cluster())


@pytest.fixture
def rule() -> AlertRule:
    return a_rule(for_seconds=60, clear_seconds=60, clear_threshold=200)


def test_it_begins_fires_and_ends_once(group: ConsumerGroup, rule: AlertRule) -> None:
    for seconds, value in ((300, LATE), (240, 700.0), (180, LATE), (120, FINE), (60, FINE), (0, FINE)):
        a_round(ago(seconds), {"billing": value}, rule)
    incident = Incident.objects.get()
    assert told() == [("firing", "billing"), ("resolved", "billing")]
    assert (incident.status, incident.ending) == ("resolved", "recovered")
    assert (incident.started_at, incident.fired_at, incident.resolved_at) == (ago(300), ago(240), ago(60))
    assert (incident.value, incident.worst_value, incident.evidence) == (FINE, 700.0, "12.0 measured")
    assert (incident.group, incident.clearing_since) == (group, None)


def test_its_id_and_start_stay_from_pending_to_the_end(group: ConsumerGroup, rule: AlertRule) -> None:
    a_round(ago(120), {"billing": LATE}, rule)
    pending = Incident.objects.get()
    a_round(ago(60), {"billing": LATE}, rule)
    firing = Incident.objects.get()
    assert (pending.status, firing.status) == ("pending", "firing")
    assert (pending.pk, pending.started_at) == (firing.pk, firing.started_at)


def test_what_passes_before_its_time_leaves_no_trace(rule: AlertRule) -> None:
    a_round(ago(60), {"billing": LATE}, rule)
    a_round(ago(30), {"billing": FINE}, rule)
    assert not Incident.objects.exists()


def test_unknown_is_noted_once_and_never_ends_it(rule: AlertRule) -> None:
    for seconds, value in ((600, LATE), (540, LATE), (480, FINE), (300, None), (240, None)):
        a_round(ago(seconds), {"billing": value}, rule)
    incident = Incident.objects.get()
    assert told() == [("firing", "billing"), ("unknown", "billing")]
    assert (incident.status, incident.unknown_since, incident.unknown_reason) == ("firing", ago(300), SILENT)
    assert (incident.value, incident.value_at) == (FINE, ago(480))
    a_round(ago(180), {"billing": FINE}, rule)
    incident.refresh_from_db()
    assert told()[2:] == [("known", "billing"), ("resolved", "billing")]
    assert (incident.unknown_since, incident.unknown_reason) == (None, None)


def test_it_ends_with_its_subject(rule: AlertRule) -> None:
    a_round(ago(120), {"billing": LATE}, rule)
    a_round(ago(60), {"billing": LATE}, rule)
    a_round(NOW, {"search": FINE}, rule)
    incident = Incident.objects.get()
    assert (incident.ending, told()[-1]) == ("gone", ("resolved", "billing"))
    assert stored_words(incident.events.latest("sequence").sentence) == (
        "prod/billing: Far behind resolved after 2 min: the subject no longer exists, or no rule selects it."
    )


def test_it_ends_with_its_rule(rule: AlertRule) -> None:
    a_round(ago(120), {"billing": LATE}, rule)
    a_round(ago(60), {"billing": LATE}, rule)
    a_round(NOW, {"billing": LATE})
    incident = Incident.objects.get()
    assert incident.ending == "rule"
    assert stored_words(incident.events.latest("sequence").sentence).startswith(
        "prod/billing: Far behind resolved after 2 min: the rule was removed or disabled, or no longer selects"
    )


def test_it_ends_after_its_rule_was_removed(rule: AlertRule) -> None:
    a_round(ago(120), {"billing": LATE, "search": LATE}, rule)
    a_round(ago(60), {"billing": LATE, "search": LATE}, rule)
    rule.delete()
    a_round(NOW, {"billing": LATE, "search": LATE})
    assert [incident.ending for incident in Incident.objects.all()] == ["rule", "rule"]


@pytest.mark.parametrize(
    "change",
    [
        {"group_pattern": "search*"},
        {"labels": {"team": "payments"}},
        {"overrides": [{"group_pattern": "billing", "enabled": False}]},
        {"measure": "drain_seconds"},
        {"topic": "Orders"},
    ],
)
def test_it_ends_when_the_rule_does_not_select_it_any_more(rule: AlertRule, change: dict[str, object]) -> None:
    a_round(ago(120), {"billing": LATE}, rule)
    a_round(ago(60), {"billing": LATE}, rule)
    for name, value in change.items():
        setattr(rule, name, value)
    a_round(NOW, {"billing": LATE}, rule)
    assert Incident.objects.get().ending == "rule"


def test_what_is_spared_does_not_hold(rule: AlertRule) -> None:
    suppressed = Values({"billing": LATE}, suppressed={"billing": "paused by configuration"})
    a_round(ago(120), suppressed, rule)
    assert not Incident.objects.exists()
    a_round(ago(110), {"billing": LATE}, rule)
    a_round(ago(50), {"billing": LATE}, rule)
    a_round(ago(40), suppressed, rule)
    incident = Incident.objects.get()
    assert (incident.status, incident.clearing_since) == ("firing", ago(40))
    assert incident.evidence == "paused by configuration"


def test_it_began_when_rows_say_so(rule: AlertRule) -> None:
    a_round(NOW, Values({"billing": LATE}, since={"billing": ago(90)}), rule)
    incident = Incident.objects.get()
    assert (incident.status, incident.started_at, incident.fired_at) == ("firing", ago(90), NOW)


def test_an_override_counts_for_whom_it_names(rule: AlertRule) -> None:
    rule.overrides = [{"group_pattern": "bill*", "threshold": 1000, "severity": "critical"}]
    a_round(ago(60), {"billing": LATE, "search": LATE}, rule)
    assert Incident.objects.get().group_name == "search"
    a_round(NOW, {"billing": 1001.0, "search": LATE}, rule)
    billing = Incident.objects.get(group_name="billing")
    assert (billing.severity, billing.threshold) == ("critical", 1000)


def test_an_override_may_be_stricter_than_its_rule(rule: AlertRule) -> None:
    rule.overrides = [{"group_pattern": "bill*", "threshold": 10, "for_seconds": 0}]
    a_round(NOW, {"billing": FINE, "search": FINE}, rule)
    assert told() == [("firing", "billing")]


def test_a_change_of_the_rule_is_noted_while_it_fires(rule: AlertRule) -> None:
    a_round(ago(120), {"billing": LATE}, rule)
    a_round(ago(60), {"billing": LATE}, rule)
    rule.severity, rule.threshold, rule.name = "critical", 400, "Behind"
    a_round(NOW, {"billing": LATE}, rule)
    incident = Incident.objects.get()
    assert (incident.severity, incident.threshold, incident.rule_name) == ("critical", 400, "Behind")
    assert told()[-1] == ("changed", "billing")
    assert stored_words(incident.events.last().sentence) == (
        "prod/billing: the rule was changed: severity warning → critical, threshold 300 → 400."
    )


def test_notes_stand_with_it_and_their_runbook_counts_before_the_rules(rule: AlertRule) -> None:
    rule.runbook_url = "https://wiki.example.org/behind"
    a_round(ago(60), {"billing": LATE, "search": LATE}, rule)
    a_note()
    a_round(NOW, {"billing": LATE, "search": LATE}, rule)
    billing, search = Incident.objects.order_by("group_name")
    assert (billing.owner, billing.labels) == ("payments", {"team": "payments"})
    assert (billing.runbook_url, search.runbook_url) == ("https://wiki.example.org/billing", rule.runbook_url)


def test_a_dead_broker_is_one_incident_that_counts_its_groups() -> None:
    rule = a_rule("Broker not read", measure="broker_unread_seconds", threshold=120, for_seconds=0)
    dead = Values({"broker-b": 300.0}, rule.measure, of_brokers=True, explains={"broker-b": ["audit", "billing"]})
    a_round(ago(15), dead, rule)
    a_round(NOW, Values({"broker-b": 5.0}, rule.measure, of_brokers=True), rule)
    incident = Incident.objects.get()
    assert (incident.subject_kind, incident.broker_name, incident.groups_count) == ("broker", "broker-b", 2)
    assert incident.group_names == [["prod", "audit"], ["prod", "billing"]]
    assert stored_words(incident.events.get().sentence).endswith("300.0 measured; it leaves 2 groups unknown")


def test_the_condition_of_an_age_passes_from_the_threshold_on() -> None:
    rule = a_rule("Broker not read", measure="broker_unread_seconds", threshold=120, for_seconds=60)
    statuses = []
    for age in (130, 170, 180):
        unread = Values({"broker-b": float(age)}, rule.measure, of_brokers=True, since={"broker-b": ago(180)})
        a_round(ago(180 - age), unread, rule)
        statuses.append(Incident.objects.get().status)
    assert statuses == ["pending", "pending", "firing"]
    assert Incident.objects.get().started_at == ago(180)


def test_the_groups_of_a_group_are_not_counted(rule: AlertRule) -> None:
    a_round(NOW, {"billing": LATE}, rule)
    assert Incident.objects.get().groups_count is None


def test_it_ends_when_the_rule_looks_at_something_else_that_is_measured_too(rule: AlertRule) -> None:
    a_round(ago(120), {"billing": LATE}, rule)
    a_round(ago(60), {"billing": LATE}, rule)
    rule.measure = Measure.LAG
    a_round(ago(30), Values({"billing": 5000}, Measure.LAG), rule)
    assert Incident.objects.get().ending == "rule"
    a_round(NOW, Values({"billing": 5000}, Measure.LAG), rule)
    assert Incident.objects.get(resolved_at=None).measure == "lag_messages"


@pytest.mark.parametrize(("after", "status"), [(LATE, "firing"), (None, "pending")])
def test_a_time_without_rounds_is_like_one_in_which_nothing_is_known(
    rule: AlertRule, after: float | None, status: str
) -> None:
    a_round(ago(7200), {"billing": LATE}, rule)
    a_round(NOW, {"billing": after}, rule)
    incident = Incident.objects.get()
    assert (incident.status, incident.started_at) == (status, ago(7200))


def test_one_that_was_about_to_end_ends_after_a_time_without_rounds_only_by_what_is_seen(rule: AlertRule) -> None:
    for seconds, value in ((7400, LATE), (7300, LATE), (7200, FINE), (15, None)):
        a_round(ago(seconds), {"billing": value}, rule)
    assert Incident.objects.get().status == "firing"
    a_round(NOW, {"billing": FINE}, rule)
    assert Incident.objects.get().ending == "recovered"
