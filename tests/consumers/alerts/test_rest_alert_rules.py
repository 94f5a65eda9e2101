"""Rules over REST."""

from typing import Any

import pytest
from django.test import Client

from consumers.models import AlertRule
from tests.alert_rows import a_rule, an_evaluation, an_incident
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = [pytest.mark.usefixtures("stopped_clock"), pytest.mark.django_db]
LIST = "/api/v1/alert-rules/"
FAR_BEHIND: dict[str, Any] = {"name": "Far behind", "measure": "lag_messages", "comparison": "above", "threshold": 100}
FAR_BEHIND |= {"severity": "warning"}
JSON = "application/json"


@pytest.fixture(autouse=True)
def _no_rules_of_the_site() -> None:
    AlertRule.objects.all().delete()


def kept(answer: Any, code: int = 200) -> dict[str, Any]:
    assert answer.status_code == code, answer.content
    return dict(answer.json())


def test_a_rule_is_said_in_words_too(api: Client) -> None:
    rule = a_rule(clear_threshold=240, group_pattern="bill*", cluster="prod", labels={"team": "payments"})
    said = kept(api.get(f"{LIST}{rule.pk}/"))
    assert said["sentence"] == "time lag > 5 min for 5 min · resolves at ≤ 4 min for 5 min"
    assert said["selects"] == "groups bill* on prod with team=payments"
    assert (said["threshold"], said["clear_threshold"], said["is_default"]) == (300.0, 240.0, False)


def test_every_null_says_why(api: Client) -> None:
    said = kept(api.get(f"{LIST}{a_rule().pk}/"))
    assert {name for name, value in said.items() if value is None} == said["unknown"].keys()
    assert said["unknown"]["group_pattern"] == "all groups"


def test_it_says_what_fires_by_it_where_rules_are_evaluated(api: Client) -> None:
    rule = a_rule()
    an_incident(rule, a_group(a_cluster()))
    assert kept(api.get(f"{LIST}{rule.pk}/"))["firing"] is None
    an_evaluation(ago(10))
    said = kept(api.get(f"{LIST}{rule.pk}/"))
    assert (said["firing"], said["pending"]) == (1, 0)


def test_none_fires_is_said_only_once_the_rule_was_evaluated(api: Client) -> None:
    rule = a_rule(changed_at=ago(5))
    an_evaluation(ago(10))
    said = kept(api.get(f"{LIST}{rule.pk}/"))
    assert (said["firing"], said["pending"]) == (None, None)
    assert said["unknown"]["firing"] == "changed after the last evaluation"
    an_evaluation(ago(4))
    assert kept(api.get(f"{LIST}{rule.pk}/"))["firing"] == 0


def test_nothing_is_counted_of_a_rule_that_is_switched_off(api: Client) -> None:
    an_evaluation(NOW)
    said = kept(api.get(f"{LIST}{a_rule(enabled=False).pk}/"))
    assert (said["firing"], said["unknown"]["firing"]) == (None, "disabled")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, ["Behind", "Stopped"]),
        ({"enabled": "false"}, ["Stopped"]),
        ({"severity": "critical"}, ["Stopped"]),
        ({"measure": "time_lag_seconds"}, ["Behind"]),
    ],
)
def test_a_list_is_filtered_and_in_order_of_names(api: Client, query: dict[str, str], names: list[str]) -> None:
    states = {"measure": "state", "comparison": "in", "threshold": None, "states": ["STOP", "STALL"]}
    a_rule("Stopped", severity="critical", enabled=False, **states)
    a_rule("Behind")
    assert [row["name"] for row in kept(api.get(LIST, query))["results"]] == names


def test_a_rule_is_made(operator_api: Client) -> None:
    said = kept(operator_api.post(LIST, FAR_BEHIND | {"for_seconds": 60, "cluster": None}, JSON), 201)
    assert (said["sentence"], said["changed_by"], said["enabled"]) == (
        "lag > 100 messages for 1 min · resolves at ≤ 100 messages for 5 min",
        "alice",
        True,
    )
    assert AlertRule.objects.get(pk=said["id"]).cluster == ""


def test_a_rule_of_states_is_made(operator_api: Client) -> None:
    body = {
        "name": "Stands",
        "measure": "state",
        "comparison": "in",
        "states": ["STALL", "STOP"],
        "severity": "critical",
    }
    said = kept(operator_api.post(LIST, body, JSON), 201)
    assert said["sentence"] == "state = stopped or stalled · resolves after 5 min"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"threshold": None}, "threshold"),
        ({"measure": "speed"}, "measure"),
        ({"clear_threshold": 200}, "clear_threshold"),
        ({"severity": "loud"}, "severity"),
        ({"group_pattern": "a[b]"}, "group_pattern"),
        ({"overrides": [{"threshold": 5}]}, "overrides"),
        ({"runbook_url": "javascript:alert(1)"}, "runbook_url"),
        ({"labels": {"1": "x"}}, "labels"),
        ({"grop_pattern": "bill*"}, "grop_pattern"),
        ({"name": "half \ud800"}, "non_field_errors"),
    ],
)
def test_what_makes_no_sense_is_refused_by_field(operator_api: Client, change: dict[str, Any], name: str) -> None:
    answer = operator_api.post(LIST, FAR_BEHIND | change, JSON)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [name])
    assert not AlertRule.objects.exists()


def test_two_rules_have_no_name_in_common(operator_api: Client) -> None:
    a_rule("Far behind")
    answer = operator_api.post(LIST, FAR_BEHIND, JSON)
    assert (answer.status_code, answer.json()["errors"]) == (400, {"name": ["Another rule has this name."]})


def test_a_change_leaves_what_it_does_not_name(operator_api: Client) -> None:
    rule = a_rule(note="Call ann.")
    said = kept(operator_api.patch(f"{LIST}{rule.pk}/", {"threshold": 600}, JSON))
    assert (said["threshold"], said["note"], said["for_seconds"]) == (600.0, "Call ann.", 300.0)


def test_one_that_replaces_another_leaves_nothing_of_it(operator_api: Client) -> None:
    rule = a_rule(note="Call ann.", group_pattern="bill*")
    said = kept(operator_api.put(f"{LIST}{rule.pk}/", FAR_BEHIND, JSON))
    assert (said["id"], said["measure"], said["note"], said["group_pattern"]) == (rule.pk, "lag_messages", None, None)
    assert (said["for_seconds"], said["clear_seconds"]) == (0.0, 300.0)


def test_what_is_put_must_be_whole(operator_api: Client) -> None:
    answer = operator_api.put(f"{LIST}{a_rule().pk}/", {"threshold": 600}, JSON)
    assert (answer.status_code, sorted(answer.json()["errors"])) == (
        400,
        ["comparison", "measure", "name", "severity"],
    )


def test_a_rule_is_removed(operator_api: Client) -> None:
    answer = operator_api.delete(f"{LIST}{a_rule().pk}/")
    assert (answer.status_code, answer.content, AlertRule.objects.exists()) == (204, b"", False)


def test_a_rule_that_the_site_came_with_is_only_switched_off(operator_api: Client) -> None:
    rule = a_rule(key="far_behind")
    answer = operator_api.delete(f"{LIST}{rule.pk}/")
    assert (answer.status_code, "disable it" in answer.json()["detail"]) == (409, True)
    assert kept(operator_api.patch(f"{LIST}{rule.pk}/", {"enabled": False}, JSON))["enabled"] is False


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_one_that_is_not_there_is_not_found(operator_api: Client, method: str) -> None:
    body = () if method in ("get", "delete") else (FAR_BEHIND, JSON)
    answer = getattr(operator_api, method)(f"{LIST}{10**30}/", *body)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_a_viewer_changes_nothing(api: Client, method: str) -> None:
    rule = a_rule()
    answer = getattr(api, method)(f"{LIST}{rule.pk}/", FAR_BEHIND, JSON)
    assert (answer.status_code, "consumers.manage_alerts" in answer.json()["detail"]) == (403, True)
    rule.refresh_from_db()
    assert (rule.measure, rule.changed_by_name) == ("time_lag_seconds", "ann")


def test_a_viewer_makes_none(api: Client) -> None:
    assert api.post(LIST, FAR_BEHIND, JSON).status_code == 403
    assert not AlertRule.objects.exists()
