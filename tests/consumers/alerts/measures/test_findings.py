"""Findings as rules see them: by code and severity, unknown where a check did not run, firing and resolving."""

from datetime import datetime
from typing import Any

import pytest

from consumers.alerts.evaluation.run import evaluate
from consumers.alerts.measures.registry import measured
from consumers.models import AlertRule, Cluster, ConsumerGroup, Incident, StoredFinding
from consumers.words.reasons import stored_words
from tests.alert_rows import a_rule, the_default_rule
from tests.consumers.alerts.measures.group_rows import a_behind_group, a_judged_cluster
from tests.health_rows import a_finding, was_checked
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster() -> Cluster:
    AlertRule.objects.all().delete()
    return a_judged_cluster()


@pytest.fixture
def group(cluster: Cluster) -> ConsumerGroup:
    group = a_behind_group(cluster)
    was_checked(group)
    return group


def a_finding_rule(*findings: str, **fields: Any) -> AlertRule:
    fields = {"threshold": 0.0, "for_seconds": 0, "clear_seconds": 0} | fields
    return a_rule("Findings", measure="findings", comparison="above", findings=list(findings), **fields)


def seen(*findings: str, table: str = "groups") -> tuple[Any, str]:
    rule = a_finding_rule(*findings)
    [column] = getattr(measured(NOW, [rule]), table).columns.values()
    rule.delete()
    value = column.values[0]
    return value, column.reason(0) if value is None else column.evidence(0)


def fired(now: datetime = NOW) -> list[tuple[str, str]]:
    evaluate(now, lambda: now)
    return list(Incident.objects.order_by("subject_key").values_list("subject_key", "status"))


def test_a_group_without_findings_has_none(group) -> None:
    assert seen("critical") == (0.0, "no findings")


def test_findings_are_counted_by_severity_and_by_code(group) -> None:
    a_finding(group, "retries_discarded", params={"brokers": ["broker-a"]})
    a_finding(group, "dlq_unreadable", "warning", params={"brokers": ["broker-a"]})
    assert seen("critical") == (1.0, "Failed messages are discarded: broker-a")
    assert seen("critical", "warning")[0] == 2.0
    assert seen("dlq_unreadable") == (1.0, "DLQ not readable: broker-a")
    assert seen("critical", "-retries_discarded") == (0.0, "no findings")


def test_a_group_that_was_not_checked_of_late_is_unknown(group) -> None:
    was_checked(group, seconds_ago=4000)
    assert seen("critical") == (None, "not checked of late: the general worker lags or does not run")


def test_what_could_not_be_checked_is_unknown_and_the_rest_is_known(group) -> None:
    a_finding(group, "retry_checks_unknown", "unknown", params={"checks": ["retries_discarded"]})
    assert seen("retries_discarded")[0] is None
    assert seen("critical")[0] is None
    assert seen("duplicate_client_ids") == (0.0, "no findings")


def test_what_was_found_is_known_whatever_could_not_be_checked(group) -> None:
    a_finding(group, "retry_checks_unknown", "unknown", params={"checks": ["retries_discarded"]})
    a_finding(group, "dlq_unreadable", params={"brokers": ["broker-a"]})
    assert seen("critical")[0] == 1.0


def test_findings_of_brokers_and_files_are_theirs(group, cluster) -> None:
    broker = cluster.brokers.first().name
    a_finding(cluster, "lost_offsets_unknown", "critical", broker=broker)
    a_finding(cluster, "offset_file_unread", "warning", params={"file_problem": None})
    assert seen("critical", table="brokers")[0] == 1.0
    assert seen("offset_file_unread", table="clusters")[0] == 1.0
    assert seen("critical", "offset_file_unread")[0] == 0.0


def test_a_finding_fires_and_resolves(group) -> None:
    a_finding_rule("critical")
    a_finding(group, "retries_discarded", params={"brokers": ["broker-a"]})
    assert fired(ago(30)) == [("group:prod/billing", "firing")]
    incident = Incident.objects.get()
    assert (stored_words(incident.evidence), incident.started_at) == (
        "Failed messages are discarded: broker-a",
        ago(600),
    )
    StoredFinding.objects.update(resolved_at=ago(10))
    assert fired(NOW) == [("group:prod/billing", "resolved")]


def test_an_incident_stays_open_while_nobody_can_check(group) -> None:
    a_finding_rule("critical")
    a_finding(group, "retries_discarded", params={"brokers": ["broker-a"]})
    fired(ago(30))
    StoredFinding.objects.all().delete()
    was_checked(group, seconds_ago=4000)
    assert fired(NOW) == [("group:prod/billing", "firing")]


@pytest.mark.parametrize(
    ("key", "code", "severity", "fires"),
    [
        ("findings_critical", "retries_discarded", "critical", True),
        ("findings_critical", "duplicate_client_ids", "critical", True),
        ("findings_critical", "dlq_unreadable", "warning", False),
        ("findings", "dlq_unreadable", "warning", True),
        ("findings", "brokers_differ", "critical", True),
        ("findings", "retries_discarded", "critical", False),
        ("findings", "doubly_owned", "critical", False),
        ("findings", "too_few_queues", "info", False),
    ],
)
def test_built_in_rules_page_for_what_is_found(group, key, code, severity, fires) -> None:
    the_default_rule(key)
    a_finding(group, code, severity, params=PARAMS)
    assert (fired() == [("group:prod/billing", "firing")]) is fires


PARAMS = {"brokers": ["broker-a"], "connections": {}, "missing": {}, "topics": []}


def test_one_look_at_findings_serves_all_rules(group, django_assert_max_num_queries) -> None:
    rules = [a_finding_rule("critical")]
    with django_assert_max_num_queries(40) as one:
        measured(NOW, rules)
    AlertRule.objects.update(name="Other")
    rules.append(a_finding_rule("warning"))
    with django_assert_max_num_queries(len(one.captured_queries)):
        measured(NOW, rules)
