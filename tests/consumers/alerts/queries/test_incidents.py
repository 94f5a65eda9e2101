"""Incidents as rows: what each says, in which order, at which cost."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.db.models.signals import post_init
from django.test.utils import CaptureQueriesContext
from django.utils.translation import override

from consumers.alerts.queries.incidents import IncidentFilters, firing_by_severity, incident_detail, incident_list
from consumers.alerts.queries.rows import GroupName
from consumers.models import ConsumerGroup, Incident
from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.reasons import ReasonCode, stored_reason
from tests.alert_rows import a_channel, a_delivery, a_rule, an_attempt, an_incident, an_incident_event, many_incidents
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def billing() -> ConsumerGroup:
    return a_group(a_cluster())


@pytest.mark.parametrize(
    ("fields", "title", "named"),
    [
        ({"subject_kind": "site", "cluster_name": "", "group_name": ""}, "Consumerscope", set()),
        ({"subject_kind": "cluster", "group_name": ""}, "prod", {"cluster"}),
        (
            {"subject_kind": "broker", "broker_name": "broker-a", "group_name": ""},
            "prod/broker-a",
            {"cluster", "broker"},
        ),
        ({}, "prod/billing", {"cluster", "group"}),
        ({"subject_kind": "topic", "topic_name": "Orders"}, "prod/billing on Orders", {"cluster", "group", "topic"}),
    ],
)
def test_names_that_a_subject_does_not_have_are_null(
    billing: ConsumerGroup, fields: dict[str, str], title: str, named: set[str]
) -> None:
    an_incident(a_rule(), billing, **fields)
    [row], _ = incident_list(IncidentFilters(), NOW)
    names = ("cluster", "broker", "group", "topic")
    assert (row.subject.title, {name for name in names if getattr(row.subject, name)}) == (title, named)
    assert row.subject.unknown.keys() == set(names) - named


def test_it_lasts_until_its_end_or_until_it_is_asked_for(billing: ConsumerGroup) -> None:
    an_incident(a_rule(), billing)
    an_incident(a_rule("Other"), billing, status="resolved", resolved_at=ago(500), ending="recovered")
    rows, _ = incident_list(IncidentFilters(), NOW)
    assert {row.status: row.seconds for row in rows} == {"firing": 600.0, "resolved": 100.0}


def test_groups_that_a_broker_leaves_unknown_are_named(billing: ConsumerGroup) -> None:
    of_broker = {"subject_kind": "broker", "group_name": "", "groups_count": 37, "group_names": [["prod", "billing"]]}
    an_incident(a_rule(), billing, **of_broker)
    [row], _ = incident_list(IncidentFilters(), NOW)
    assert (row.groups_count, row.groups) == (37, [GroupName("prod", "billing")])


def test_what_nobody_acknowledged_is_first_of_what_is_as_bad(billing: ConsumerGroup) -> None:
    def made(name: str, **fields: Any) -> str:
        return str(an_incident(a_rule(name), billing, **fields).pk)

    old = made("old", started_at=ago(900))
    seen = made("seen", acknowledged_at=ago(10))
    bad = made("bad", severity="critical", acknowledged_at=ago(10))
    recent = made("recent", started_at=ago(60))
    rows, _ = incident_list(IncidentFilters(ordering="severity"), NOW)
    assert [row.id for row in rows] == [bad, recent, old, seen]
    rows, _ = incident_list(IncidentFilters(ordering="-severity"), NOW)
    assert [row.id for row in rows] == [recent, old, seen, bad]


def test_what_has_not_happened_is_last_either_way(billing: ConsumerGroup) -> None:
    open_one = an_incident(a_rule(), billing)
    over = an_incident(a_rule("Other"), billing, status="resolved", resolved_at=ago(500), ending="recovered")
    for ordering in ("resolved_at", "-resolved_at"):
        rows, _ = incident_list(IncidentFilters(ordering=ordering), NOW)
        assert [row.id for row in rows] == [str(over.pk), str(open_one.pk)]


def test_one_that_ended_at_the_begin_of_a_range_went_on_in_it_and_one_that_began_at_its_end_did_not(
    billing: ConsumerGroup,
) -> None:
    over = an_incident(a_rule(), billing, status="resolved", resolved_at=ago(500), ending="recovered")
    for since, until, found in ((500, 0, 1), (499, 0, 0), (900, 600, 0), (900, 599, 1)):
        rows, count = incident_list(IncidentFilters(since=ago(since), until=ago(until)), NOW)
        assert (len(rows), count) == (found, found)
    assert over.started_at == ago(600)


def test_all_of_one_is_told_in_few_queries(billing: ConsumerGroup, django_assert_num_queries: Any) -> None:
    incident, channel = an_incident(a_rule(), billing), a_channel()
    for _ in range(10):
        an_attempt(a_delivery(channel, an_incident_event(incident)))
    with django_assert_num_queries(6):
        row = incident_detail(incident.pk, NOW)
    assert row is not None
    assert [event.sequence for event in row.events] == list(range(1, 11))
    assert [delivery.number for delivery in row.deliveries] == list(range(10, 0, -1))


def test_a_delivery_names_the_first_incidents_and_counts_all_changes(billing: ConsumerGroup) -> None:
    rule = a_rule()
    events = []
    for number in range(25):
        events.append(an_incident_event(an_incident(rule, a_group(billing.cluster, f"g{number}"))))
    a_delivery(a_channel(), *events)
    row = incident_detail(events[0].incident_id, NOW)
    assert row is not None
    (told,) = row.deliveries
    assert (told.changes, told.incidents) == (25, [str(event.incident_id) for event in events[:20]])


@contextmanager
def read_rows() -> Iterator[list[Incident]]:
    """The incidents that are made of rows of the database meanwhile."""
    made: list[Incident] = []

    def note(instance: Incident, **_: Any) -> None:
        made.append(instance)

    post_init.connect(note, sender=Incident)
    try:
        yield made
    finally:
        post_init.disconnect(note, sender=Incident)


@pytest.mark.parametrize("ordering", [None, "severity", "-group"])
def test_a_page_of_many_asks_for_its_own_rows_alone(billing: ConsumerGroup, ordering: str | None) -> None:
    rule, asked = a_rule(), []
    for number in (1_000, 10_000):
        Incident.objects.all().delete()
        many_incidents(rule, billing, number)
        with CaptureQueriesContext(connection) as queries, read_rows() as read:
            rows, count = incident_list(IncidentFilters(ordering=ordering), NOW, page=3)
        assert (len(rows), count, len(read)) == (100, number, 100)
        asked.append(len(queries))
    assert asked[0] == asked[1]


def test_those_that_fire_are_counted_by_severity(billing: ConsumerGroup) -> None:
    rule = a_rule()
    for number, fields in enumerate(({"severity": "critical"}, {"severity": "critical"}, {"status": "pending"})):
        an_incident(rule, billing, subject_key=f"group {number}", **fields)
    assert firing_by_severity() == {"critical": 2, "warning": 0, "info": 0}


def test_its_evidence_is_in_the_language_of_the_reader_beside_its_code(billing: ConsumerGroup) -> None:
    evidence = stored_reason(AlertEvidence.OLDEST_WAITS, waited_seconds=620.0)
    reason = stored_reason(ReasonCode.BROKER_OVERDUE, name="broker-a", late_seconds=45.0)
    an_incident(a_rule(), billing, evidence=evidence, unknown_reason=reason)

    def said() -> tuple[str | None, str | None]:
        [row], _ = incident_list(IncidentFilters(), NOW)
        assert (row.evidence_code, row.unknown_reason_code) == ("evidence_oldest_waits", "broker_overdue")
        return row.evidence, row.unknown_reason

    assert said() == ("its oldest message waits for 10 min", "broker-a has not been read for more than 45 s")
    with override("zh-hans"):
        assert said() == ("最早的消息已等待 10 分钟", "broker-a 已超过 45 秒未读取")


def test_evidence_of_a_state_names_its_rule_and_numbers_when_it_is_shown(billing: ConsumerGroup) -> None:
    values = {
        "state": "STALL",
        "rule": "no_owner",
        "detail": {"lag_messages": 40},
        "place": None,
        "as_of": "2026-03-14T02:59:00Z",
    }
    an_incident(a_rule(), billing, evidence=stored_reason(AlertEvidence.STATE, **values))
    [row], _ = incident_list(IncidentFilters(), NOW)
    assert row.evidence == "no owner · lag 40 messages · as of 2026-03-14 02:59:00 UTC"
