"""How many incidents of a group are open, wherever a group is answered."""

from typing import Any

import pytest
from django.test import Client

from consumers.models import AlertEngine, Cluster, ConsumerGroup
from tests.alert_rows import a_rule, an_evaluation, an_incident
from tests.world import a_broker, a_cluster, a_group, ago

pytestmark = [pytest.mark.usefixtures("stopped_clock"), pytest.mark.django_db]
LIST = "/api/v1/groups/"
NONE = {"firing": 0, "critical": 0, "warning": 0, "info": 0, "pending": 0}


@pytest.fixture
def cluster() -> Cluster:
    cluster = a_cluster()
    a_broker(cluster)
    an_evaluation(ago(10))
    return cluster


@pytest.fixture
def billing(cluster: Cluster) -> ConsumerGroup:
    """Of which three incidents fire, one is pending, and one is over."""
    group = a_group(cluster)
    for number, severity in enumerate(("critical", "warning", "warning")):
        an_incident(a_rule(f"rule {number}", severity=severity), group)
    an_incident(a_rule("pending", severity="info"), group, status="pending", fired_at=None)
    over = {"status": "resolved", "resolved_at": ago(60), "ending": "recovered"}
    an_incident(a_rule("over", severity="info"), group, **over)
    return group


def rows(client: Client, **query: Any) -> dict[str, dict[str, Any]]:
    answer = client.get(LIST, query)
    assert answer.status_code == 200, answer.content
    return {row["group"]: row for row in answer.json()["results"]}


@pytest.mark.parametrize("place", ["", "status/"])
def test_a_group_says_how_many_fire_by_severity_and_how_many_are_pending(
    api: Client, billing: ConsumerGroup, place: str
) -> None:
    said = api.get(f"{LIST}prod/billing/{place}").json()
    assert said["open_incidents"] == {"firing": 3, "critical": 1, "warning": 2, "info": 0, "pending": 1}
    assert "open_incidents" not in said["unknown"]


def test_a_list_says_it_of_each_group(api: Client, billing: ConsumerGroup) -> None:
    a_group(billing.cluster, "audit")
    found = rows(api)
    assert (found["billing"]["open_incidents"]["firing"], found["audit"]["open_incidents"]) == (3, NONE)


@pytest.mark.parametrize("age", [None, 3600])
def test_it_is_not_known_where_rules_were_not_evaluated_lately(
    api: Client, billing: ConsumerGroup, age: float | None
) -> None:
    AlertEngine.objects.update(evaluated_at=None if age is None else ago(age))
    found = rows(api)["billing"]
    assert found["open_incidents"] is None
    assert "have not been evaluated" in found["unknown"]["open_incidents"]


@pytest.mark.parametrize(
    ("fields", "kind", "reason"),
    [
        ({"kind": "system"}, "system", "alert rules do not evaluate system groups"),
        (
            {"online": False, "members": 0, "offline_since": ago(30 * 86400), "membership_at": ago(60)},
            "ghost",
            "alert rules do not evaluate inactive groups",
        ),
        ({"first_seen_at": ago(5)}, "user", "the group was first seen after the last evaluation of alert rules"),
    ],
)
def test_it_is_not_known_of_a_group_that_no_rule_has_looked_at(
    api: Client, cluster: Cluster, fields: dict[str, Any], kind: str, reason: str
) -> None:
    a_group(cluster, **fields)
    [row] = rows(api, kind=kind).values()
    assert (row["open_incidents"], row["unknown"]["open_incidents"]) == (None, reason)
    assert (rows(api, kind=kind, firing="true"), rows(api, kind=kind, firing="false")) == ({}, {})


def test_groups_are_found_by_whether_one_fires(api: Client, billing: ConsumerGroup) -> None:
    audit = a_group(billing.cluster, "audit")
    an_incident(a_rule("waits"), audit, status="pending", fired_at=None)
    assert list(rows(api, firing="true")) == ["billing"]
    assert list(rows(api, firing="false")) == ["audit"]
    assert list(rows(api, ordering="group")) == ["audit", "billing"]


def test_nobody_is_found_by_what_is_not_known(api: Client, billing: ConsumerGroup) -> None:
    AlertEngine.objects.update(evaluated_at=ago(3600))
    answer = api.get(LIST, {"firing": "true"})
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    assert answer.json()["detail"].startswith("Firing groups are unknown: alert rules have not been evaluated")


def test_csv_has_it_in_a_cell_and_why_not(api: Client, billing: ConsumerGroup) -> None:
    query = {"format": "csv", "fields": "group,open_incidents"}
    lines = b"".join(api.get(LIST, query)).decode().splitlines()
    assert lines[0] == "group,open_incidents,unknown_reason,unknown"
    assert lines[1].startswith('billing,"{""firing"": 3, ""critical"": 1')
    AlertEngine.objects.update(evaluated_at=ago(3600))
    late = b"".join(api.get(LIST, query)).decode().splitlines()[1]
    assert late.startswith("billing,,")
    assert "have not been evaluated" in late
