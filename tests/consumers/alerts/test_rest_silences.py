"""Silences over REST."""

from typing import Any

import pytest
from django.test import Client

from consumers.models import Silence
from tests.alert_rows import a_rule, a_silence, an_incident
from tests.world import a_cluster, a_group, ago

pytestmark = [pytest.mark.usefixtures("stopped_clock"), pytest.mark.django_db]
LIST = "/api/v1/silences/"
WISH = {"group_pattern": "bill*", "ends_at": "2026-03-14T05:00:00Z", "reason": "the database moves"}
JSON = "application/json"


def kept(answer: Any, code: int = 200) -> dict[str, Any]:
    assert answer.status_code == code, answer.content
    return dict(answer.json())


def test_a_silence_says_what_it_keeps_quiet_until_when_and_why(api: Client) -> None:
    rule = a_rule()
    silence = a_silence(group_pattern="bill*", cluster="prod", rule=rule, labels={"team": "payments"})
    an_incident(rule, a_group(a_cluster()), silence=silence)
    said = kept(api.get(f"{LIST}{silence.pk}/"))
    assert said["selects"] == "groups bill* on prod with team=payments of the rule Far behind"
    assert (said["status"], said["ends_at"], said["reason"]) == ("active", "2026-03-14T04:00:00Z", "the database moves")
    assert (said["by"], said["rule"], said["incidents"]) == ("ann", rule.pk, 1)


def test_every_null_says_why(api: Client) -> None:
    said = kept(api.get(f"{LIST}{a_silence().pk}/"))
    assert {name for name, value in said.items() if value is None} == said["unknown"].keys()
    assert said["selects"] == "everything"


@pytest.mark.parametrize(
    ("query", "reasons"),
    [
        ({}, ["coming", "active", "past"]),
        ({"status": "coming"}, ["coming"]),
        ({"status": "active"}, ["active"]),
        ({"status": "past"}, ["past"]),
    ],
)
def test_a_list_is_filtered_by_whether_it_holds(api: Client, query: dict[str, str], reasons: list[str]) -> None:
    a_silence(reason="active")
    a_silence(reason="past", ends_at=ago(0))
    a_silence(reason="coming", starts_at=ago(-60), ends_at=ago(-7200))
    assert [row["reason"] for row in kept(api.get(LIST, query))["results"]] == reasons


def test_a_silence_is_made(operator_api: Client) -> None:
    rule = a_rule()
    said = kept(operator_api.post(LIST, WISH | {"rule": rule.pk, "topic": None}, JSON), 201)
    assert (said["status"], said["starts_at"], said["by"]) == ("active", "2026-03-14T03:00:00Z", "alice")
    silence = Silence.objects.get(pk=said["id"])
    assert (silence.rule, silence.topic, silence.group_pattern) == (rule, "", "bill*")


def test_the_whole_site_is_silenced_where_that_is_said(operator_api: Client) -> None:
    wish = {"everything": True, "ends_at": WISH["ends_at"], "reason": WISH["reason"]}
    assert kept(operator_api.post(LIST, wish, JSON), 201)["selects"] == "everything"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"reason": ""}, "reason"),
        ({"ends_at": "2026-03-14T02:00:00Z"}, "ends_at"),
        ({"ends_at": "2028-03-14T02:00:00Z"}, "ends_at"),
        ({"rule": 10**30}, "rule"),
        ({"group": "billing"}, "group"),
        ({"labels": ["team"]}, "labels"),
        ({"labels": {}}, "labels"),
        ({"group_pattern": ""}, "group_pattern"),
        ({"cluster": " "}, "cluster"),
        ({"topic": ""}, "topic"),
        ({"group_pattern": None}, "everything"),
        ({"everything": True}, "everything"),
    ],
)
def test_what_makes_no_sense_is_refused_by_field(operator_api: Client, change: dict[str, Any], name: str) -> None:
    answer = operator_api.post(LIST, WISH | change, JSON)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [name])
    assert not Silence.objects.exists()


def test_a_silence_is_ended_early_once(operator_api: Client) -> None:
    silence = a_silence()
    said = kept(operator_api.delete(f"{LIST}{silence.pk}/"))
    assert (said["status"], said["ends_at"], said["ended_by"]) == ("past", "2026-03-14T03:00:00Z", "alice")
    answer = operator_api.delete(f"{LIST}{silence.pk}/")
    assert (answer.status_code, answer["Content-Type"]) == (409, "application/problem+json")


@pytest.mark.parametrize("method", ["get", "delete"])
def test_one_that_is_not_there_is_not_found(operator_api: Client, method: str) -> None:
    assert getattr(operator_api, method)(f"{LIST}77/").status_code == 404


def test_a_viewer_neither_makes_nor_ends_one(api: Client) -> None:
    silence = a_silence()
    assert api.post(LIST, WISH, JSON).status_code == 403
    assert api.delete(f"{LIST}{silence.pk}/").status_code == 403
    assert Silence.objects.get().ended_by_name is None
