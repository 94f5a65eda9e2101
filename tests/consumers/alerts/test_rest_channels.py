"""Channels over REST: secrets go in and never come out."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from consumers.models import Channel, Delivery, DeliveryStatus
from tests.alert_rows import a_channel, a_delivery, a_rule, an_attempt, an_incident, an_incident_event
from tests.world import a_cluster, a_group, ago

pytestmark = [pytest.mark.usefixtures("stopped_clock"), pytest.mark.django_db]
LIST = "/api/v1/channels/"
CANARY = "canary-0123456789abcdef"
WEBHOOK: dict[str, Any] = {"name": "on call", "kind": "webhook", "url": f"https://hooks.example.org/{CANARY}"}
WEBHOOK |= {"secret": CANARY, "headers": {"X-Token": CANARY}}
JSON = "application/json"


def kept(answer: Any, code: int = 200) -> dict[str, Any]:
    assert answer.status_code == code, answer.content
    return dict(answer.json())


@pytest.fixture
def made(operator_api: Client) -> str:
    return f"{LIST}{kept(operator_api.post(LIST, WEBHOOK, JSON), 201)['id']}/"


def test_no_answer_holds_what_is_secret(operator_api: Client, made: str) -> None:
    answers = [operator_api.get(made), operator_api.get(LIST), operator_api.patch(made, {"secret": CANARY}, JSON)]
    answers += [operator_api.put(made, WEBHOOK, JSON), operator_api.post(LIST, WEBHOOK, JSON)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 400]
    assert CANARY not in "".join(answer.content.decode() for answer in answers)
    assert kept(answers[0])["target"] == "https://hooks.example.org"


def test_a_channel_says_what_it_is_told_of_and_what_waits(api: Client) -> None:
    rule, channel = a_rule(), a_channel(group_pattern="bill*", severities=["critical"])
    channel.rules.add(rule)
    a_delivery(channel)
    newest = a_delivery(channel, status="waiting", sent_at=None, next_try_at=ago(-5), error="timed out")
    said = kept(api.get(f"{LIST}{channel.pk}/"))
    assert (said["selects"], said["rules"]) == ("critical: groups bill* of the rule Far behind", [rule.pk])
    assert (said["waiting"], said["last_delivery"]["id"], said["last_delivery"]["error"]) == (
        1,
        str(newest.pk),
        "timed out",
    )


def test_every_null_says_why(api: Client) -> None:
    said = kept(api.get(f"{LIST}{a_channel().pk}/"))
    assert {name for name, value in said.items() if value is None} == said["unknown"].keys()
    assert said["unknown"]["last_delivery"] == "no message was queued for the channel yet"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"url": "ftp://hooks.example.org"}, "url"),
        ({"secret": "short"}, "secret"),
        ({"kind": "pigeon"}, "kind"),
        ({"rules": [77]}, "rules"),
        ({"severities": ["loud"]}, "severities"),
        ({"recipients": ["ann@example.org"]}, "recipients"),
        ({"body_template": "{{ x }}"}, "body_template"),
        ({"adress": "x"}, "adress"),
    ],
)
def test_what_makes_no_sense_is_refused_by_field(operator_api: Client, change: dict[str, Any], name: str) -> None:
    answer = operator_api.post(LIST, WEBHOOK | change, JSON)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [name])
    assert not Channel.objects.exists()


def test_a_change_leaves_what_it_does_not_name(operator_api: Client, made: str) -> None:
    sealed = Channel.objects.get().sealed
    said = kept(operator_api.patch(made, {"severities": ["critical"]}, JSON))
    assert (said["severities"], said["target"], said["name"]) == (["critical"], "https://hooks.example.org", "on call")
    assert kept(operator_api.patch(made, {"enabled": False}, JSON))["severities"] == ["critical"]
    assert len(Channel.objects.get().sealed) == len(sealed)


def test_one_that_replaces_another_keeps_its_address_alone(operator_api: Client, made: str) -> None:
    operator_api.patch(made, {"severities": ["critical"], "enabled": False}, JSON)
    said = kept(operator_api.put(made, {"name": "night", "kind": "webhook"}, JSON))
    assert (said["name"], said["severities"], said["enabled"]) == ("night", None, True)
    assert said["target"] == "https://hooks.example.org"


@pytest.mark.parametrize("name", ["severities", "rules"])
def test_an_empty_list_is_not_taken_for_all(operator_api: Client, made: str, name: str) -> None:
    """Null is all, in answers too, so that an answer can be sent back."""
    rule = a_rule()
    operator_api.patch(made, {"severities": ["critical"], "rules": [rule.pk]}, JSON)
    answer = operator_api.patch(made, {name: []}, JSON)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [name])
    assert "null, for all" in answer.json()["errors"][name][0]
    said = kept(operator_api.patch(made, {name: None}, JSON))
    assert (said[name], said["unknown"][name]) == (None, f"all {name}")


@pytest.mark.parametrize("name", ["cluster", "group_pattern"])
def test_an_empty_text_is_not_taken_for_all(operator_api: Client, made: str, name: str) -> None:
    operator_api.patch(made, {name: "pr*"}, JSON)
    answer = operator_api.patch(made, {name: ""}, JSON)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [name])
    assert kept(operator_api.patch(made, {name: None}, JSON))[name] is None


def test_the_kind_of_a_channel_stays(operator_api: Client, made: str) -> None:
    answer = operator_api.patch(made, {"kind": "email"}, JSON)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["kind"])


def test_a_channel_is_removed(operator_api: Client, made: str) -> None:
    assert operator_api.delete(made).status_code == 204
    assert not Channel.objects.exists()


def test_its_messages_are_listed_with_their_tries(api: Client) -> None:
    channel, incident = a_channel(), an_incident(a_rule(), a_group(a_cluster()))
    sent = a_delivery(channel, an_incident_event(incident))
    an_attempt(sent, ok=False, answer="503 Service Unavailable")
    an_attempt(sent)
    waiting = a_delivery(channel, status="waiting", sent_at=None)
    rows = kept(api.get(f"{LIST}{channel.pk}/deliveries/"))["results"]
    assert [row["id"] for row in rows] == [str(waiting.pk), str(sent.pk)]
    assert (rows[1]["changes"], rows[1]["incidents"]) == (1, [str(incident.pk)])
    assert [(one["ok"], one["answer"]) for one in rows[1]["tries"]] == [
        (False, "503 Service Unavailable"),
        (True, "200 OK"),
    ]
    assert [
        row["id"] for row in kept(api.get(f"{LIST}{channel.pk}/deliveries/", {"status": "waiting"}))["results"]
    ] == [str(waiting.pk)]


def test_a_try_whose_end_was_not_seen_is_neither_good_nor_bad(api: Client) -> None:
    channel = a_channel()
    an_attempt(a_delivery(channel, status="sending", sent_at=None), ok=None, seconds=None, answer="")
    (row,) = kept(api.get(f"{LIST}{channel.pk}/deliveries/"))["results"]
    (one,) = row["tries"]
    assert (one["ok"], one["seconds"], one["answer"]) == (None, None, None)
    assert set(one["unknown"].values()) == {"result unknown: the message may have arrived"}


def test_a_message_of_test_waits_for_a_worker(operator_api: Client, made: str, settings: Any, tmp_path: Path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path / 'nobody-listens.sock'}"
    said = kept(operator_api.post(f"{made}test/", content_type=JSON), 202)
    assert (said["is_test"], said["status"], said["changes"]) == (True, "waiting", 0)
    assert Delivery.objects.get().status == DeliveryStatus.WAITING


@pytest.mark.parametrize("rest", ["", "deliveries/", "test/"])
def test_one_that_is_not_there_is_not_found(operator_api: Client, rest: str) -> None:
    path = f"{LIST}77/{rest}"
    answer = operator_api.post(path, content_type=JSON) if rest == "test/" else operator_api.get(path)
    assert answer.status_code == 404


def test_a_viewer_changes_nothing(api: Client) -> None:
    path = f"{LIST}{a_channel().pk}/"
    answers = [api.post(LIST, WEBHOOK, JSON), api.patch(path, {}, JSON), api.delete(path), api.post(f"{path}test/")]
    assert [answer.status_code for answer in answers] == [403] * 4
    assert (Channel.objects.count(), Delivery.objects.count()) == (1, 0)
