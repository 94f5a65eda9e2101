"""Incidents over REST."""

import uuid
from typing import Any

import pytest
from django.test import Client

from consumers.models import ConsumerGroup, Incident, IncidentEvent
from tests.alert_rows import (
    a_channel,
    a_delivery,
    a_rule,
    a_silence,
    an_attempt,
    an_evaluation,
    an_incident,
    an_incident_event,
)
from tests.world import a_cluster, a_group, ago

pytestmark = pytest.mark.usefixtures("stopped_clock")
LIST = "/api/v1/alerts/"


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    return a_group(a_cluster())


def listed(api: Client, **query: Any) -> list[str]:
    answer = api.get(LIST, query)
    assert answer.status_code == 200, answer.content
    return [row["id"] for row in answer.json()["results"]]


def over(**fields: Any) -> dict[str, Any]:
    return {"status": "resolved", "started_at": ago(3000), "resolved_at": ago(2000), "ending": "recovered"} | fields


def test_an_incident_says_what_holds_since_when_and_by_which_rule(api: Client, billing: ConsumerGroup) -> None:
    incident = an_incident(a_rule(), billing, owner="payments", labels={"team": "payments"})
    said = api.get(f"{LIST}{incident.pk}/").json()
    assert (said["status"], said["severity"], said["rule_name"]) == ("firing", "warning", "Far behind")
    assert (said["condition"], said["evidence"]) == ("time lag > 5 min", "10 min 20 s behind")
    assert (said["started_at"], said["fired_at"]) == ("2026-03-14T02:50:00Z", "2026-03-14T02:55:00Z")
    assert (said["seconds"], said["value"], said["owner"]) == (600.0, 620.0, "payments")
    subject = said["subject"]
    assert (subject["title"], subject["cluster"], subject["group"]) == ("prod/billing", "prod", "billing")


def test_every_null_says_why(api: Client, billing: ConsumerGroup) -> None:
    said = api.get(f"{LIST}{an_incident(a_rule(), billing).pk}/").json()
    said.pop("unknown_reason")
    said.pop("unknown_reason_code")
    assert {name for name, value in said.items() if value is None} == said["unknown"].keys()
    assert said["unknown"]["resolved_at"] == "not resolved"
    assert said["subject"]["unknown"].keys() == {"broker", "topic"}


def test_a_value_that_became_unknown_keeps_the_last_one_and_says_so(api: Client, billing: ConsumerGroup) -> None:
    fields = {"unknown_since": ago(60), "unknown_reason": "broker-a is silent"}
    said = api.get(f"{LIST}{an_incident(a_rule(), billing, **fields).pk}/").json()
    assert (said["status"], said["value"], said["value_at"]) == ("firing", 620.0, "2026-03-14T02:59:55Z")
    assert (said["unknown_since"], said["unknown_reason"]) == ("2026-03-14T02:59:00Z", "broker-a is silent")


def test_it_tells_its_changes_and_the_messages_about_them(api: Client, billing: ConsumerGroup) -> None:
    incident = an_incident(a_rule(), billing)
    delivery = a_delivery(a_channel(), an_incident_event(incident))
    an_attempt(delivery)
    said = api.get(f"{LIST}{incident.pk}/").json()
    (event,), (told,) = said["events"], said["deliveries"]
    assert (event["kind"], event["sequence"], event["by"]) == ("firing", 1, None)
    assert (told["id"], told["status"], told["incidents"]) == (str(delivery.pk), "sent", [str(incident.pk)])
    assert told["tries"][0].items() >= {"number": 1, "ok": True, "seconds": 0.2, "answer": "200 OK"}.items()


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, ["pending", "firing", "critical", "over"]),
        ({"status": "open"}, ["pending", "firing", "critical"]),
        ({"status": "resolved"}, ["over"]),
        ({"severity": "critical"}, ["critical"]),
        ({"group": "audit"}, ["critical"]),
        ({"cluster": "elsewhere"}, []),
        ({"ordering": "severity"}, ["critical", "pending", "firing", "over"]),
        ({"ordering": "started_at"}, ["over", "critical", "firing", "pending"]),
        ({"from": "2026-03-14T02:30:00Z"}, ["pending", "firing", "critical"]),
        ({"to": "2026-03-14T02:30:00Z"}, ["over"]),
        ({"from": "2026-03-14T02:20:00Z", "to": "2026-03-14T02:45:00Z"}, ["critical", "over"]),
        ({"page_size": 1, "page": 2}, ["firing"]),
    ],
)
def test_a_list_is_filtered_and_ordered(
    api: Client, billing: ConsumerGroup, query: dict[str, Any], names: list[str]
) -> None:
    rule, audit = a_rule(), a_group(billing.cluster, "audit")
    made = {
        "over": an_incident(rule, billing, **over()),
        "firing": an_incident(rule, billing),
        "pending": an_incident(a_rule("Later"), billing, status="pending", fired_at=None, started_at=ago(60)),
        "critical": an_incident(rule, audit, severity="critical", started_at=ago(1000)),
    }
    assert listed(api, **query) == [str(made[name].pk) for name in names]


def test_a_list_is_filtered_by_rule(api: Client, billing: ConsumerGroup) -> None:
    an_incident(a_rule("Other"), billing)
    incident = an_incident(a_rule(), billing)
    assert listed(api, rule=incident.rule_id) == [str(incident.pk)]


def test_a_list_says_how_old_it_is(api: Client, billing: ConsumerGroup) -> None:
    an_evaluation(ago(10))
    an_incident(a_rule(), billing)
    said = api.get(LIST).json()["evaluation"]
    assert (said["at"], said["freshness"], said["firing"]) == ("2026-03-14T02:59:50Z", "fresh", 1)
    assert (said["pending"], said["unacknowledged"]) == (0, 1)


def test_no_incident_is_no_news_where_rules_are_not_evaluated(api: Client, billing: ConsumerGroup) -> None:
    answer = api.get(LIST).json()
    said = answer["evaluation"]
    assert (answer["count"], said["firing"], said["pending"]) == (0, None, None)
    assert set(said["unknown"].values()) == {"alert rules have not been evaluated yet"}
    assert {name for name, value in said.items() if value is None} == said["unknown"].keys()


def test_a_list_of_csv_says_that_rules_are_not_evaluated(api: Client, billing: ConsumerGroup) -> None:
    lines = b"".join(api.get(LIST, {"format": "csv"})).decode().splitlines()  # type: ignore[arg-type]
    assert lines[-1] == "# incomplete: alert rules have not been evaluated yet"


def test_a_silence_that_holds_it_back_is_named(api: Client, billing: ConsumerGroup) -> None:
    silence = a_silence()
    said = api.get(f"{LIST}{an_incident(a_rule(), billing, silence=silence).pk}/").json()
    assert (said["silence"], said["silenced_until"]) == (silence.pk, "2026-03-14T04:00:00Z")


def test_it_is_acknowledged_and_that_is_taken_back(operator_api: Client, billing: ConsumerGroup) -> None:
    incident = an_incident(a_rule(), billing)
    answer = operator_api.post(f"{LIST}{incident.pk}/acknowledge/", {"text": "on it"}, "application/json")
    said = answer.json()
    assert (answer.status_code, said["acknowledged_by"], said["acknowledgement"]) == (200, "alice", "on it")
    assert [event["kind"] for event in said["events"]] == ["acknowledged"]
    answer = operator_api.delete(f"{LIST}{incident.pk}/acknowledge/")
    assert (answer.status_code, answer.json()["acknowledged_at"]) == (200, None)


def test_what_is_over_is_not_acknowledged(operator_api: Client, billing: ConsumerGroup) -> None:
    incident = an_incident(a_rule(), billing, **over())
    answer = operator_api.post(f"{LIST}{incident.pk}/acknowledge/", {}, "application/json")
    assert (answer.status_code, answer["Content-Type"]) == (409, "application/problem+json")
    assert "this one is resolved" in answer.json()["detail"]


def test_a_viewer_acknowledges_nothing(api: Client, billing: ConsumerGroup) -> None:
    incident = an_incident(a_rule(), billing)
    for method in (api.post, api.delete):
        answer = method(f"{LIST}{incident.pk}/acknowledge/")
        assert (answer.status_code, "consumers.manage_alerts" in answer.json()["detail"]) == (403, True)
    assert Incident.objects.get().acknowledged_at is None
    assert not IncidentEvent.objects.exists()


@pytest.mark.parametrize("rest", ["", "acknowledge/"])
def test_one_that_is_not_there_is_not_found(operator_api: Client, rest: str) -> None:
    path = f"{LIST}{uuid.uuid4()}/{rest}"
    answer = operator_api.post(path, {}, "application/json") if rest else operator_api.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ({"status": "broken"}, "status"),
        ({"ordering": "name"}, "ordering"),
        ({"from": "yesterday"}, "from"),
        ({"rule": 2**63}, "rule"),
        ({"nothing": 1}, "nothing"),
    ],
)
def test_what_makes_no_sense_is_refused(api: Client, query: dict[str, Any], name: str) -> None:
    answer = api.get(LIST, query)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [name])


def test_a_page_costs_as_many_queries_for_many_as_for_one(
    api: Client, billing: ConsumerGroup, django_assert_max_num_queries: Any
) -> None:
    rule = a_rule()
    for number in range(20):
        an_incident(rule, a_group(billing.cluster, f"g{number}"), silence=a_silence())
    with django_assert_max_num_queries(8):
        assert len(listed(api)) == 20


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({}, None),
        ({"from": ago(3600).isoformat()}, None),
        ({"from": ago(91 * 86400).isoformat()}, "resolved incidents are retained for 90 days"),
        ({"from": ago(91 * 86400).isoformat(), "status": "open"}, None),
    ],
)
def test_a_range_whose_incidents_were_deleted_says_that_there_may_have_been_more(
    db: None, api: Client, query: dict[str, str], reason: str | None
) -> None:
    assert api.get(LIST, query).json()["unknown_reason"] == reason
