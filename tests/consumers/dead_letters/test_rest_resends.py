"""Planning, starting, watching and cancelling re-sends over REST."""

import uuid
from typing import Any

import pytest
from django.test import Client

from consumers.models import ConsumerGroup, Resend, ResendOutcome, ResendStatus
from tests.dead_letter_rows import a_letter, a_resend, a_resendable_group, an_item
from tests.world import NOW, a_client, ago

pytestmark = pytest.mark.usefixtures("stopped_clock", "redis_is_down")
LIST = "/api/v1/groups/prod/billing/resends/"


@pytest.fixture(autouse=True)
def billing(db: None) -> ConsumerGroup:
    return a_resendable_group()


def requested(*offsets: int, **fields: Any) -> dict[str, Any]:
    messages = [{"broker": "broker-a", "queue_id": 0, "offset": offset} for offset in offsets]
    return {"messages": messages, "destination": "group", "reason": "mended"} | fields


def post(client: Client, path: str, body: Any = None) -> Any:
    return client.post(path, body if body is not None else {}, content_type="application/json")


def planned(client: Client, billing: ConsumerGroup, offset: int = 3) -> str:
    a_letter(billing, offset)
    return str(post(client, LIST, requested(offset)).json()["id"])


def test_a_plan_says_what_would_be_sent_and_to_whom(operator_api: Client, billing: ConsumerGroup) -> None:
    a_letter(billing, 3)
    a_client(billing, orderly=None)
    answer = post(operator_api, LIST, requested(3, rate_per_second=20))
    assert answer.status_code == 201
    said = answer.json()
    assert (said["status"], said["outcomes"], said["by"]) == ("planned", {"planned": 1}, "alice")
    assert (said["receivers"], said["expected_seconds"]) == (["billing"], 0.05)
    assert "whether it is orderly" in said["warnings"][0]
    assert said["unknown"]["started_at"] == "not started"


def test_filters_choose_too(operator_api: Client, billing: ConsumerGroup) -> None:
    a_letter(billing, 3, tags="late")
    a_letter(billing, 4)
    body = {"filter": {"tag": "late", "from": "2026-01-01T00:00:00Z"}, "destination": "topic", "reason": "mended"}
    said = post(operator_api, LIST, body).json()
    assert (said["messages"], said["selection"]["filter"]["tag"]) == (1, "late")


def test_all_are_chosen_where_that_is_said(operator_api: Client, billing: ConsumerGroup) -> None:
    a_letter(billing, 3)
    a_letter(billing, 4)
    said = post(operator_api, LIST, {"all": True, "destination": "group", "reason": "mended"}).json()
    assert (said["messages"], said["selection"]) == (2, {"filter": {}})


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 400, "required"),
        (requested(3) | {"filter": {}}, 400, "exactly one of"),
        (requested(3) | {"all": True}, 400, "exactly one of"),
        (requested(), 400, "No message is selected"),
        ({"messages": None, "destination": "group", "reason": "x"}, 400, "null"),
        ({"filter": {}, "destination": "group", "reason": "x"}, 400, "An empty filter selects nothing"),
        ({"filter": None, "destination": "group", "reason": "x"}, 400, "null"),
        ({"all": False, "destination": "group", "reason": "x"}, 400, "Use true"),
        ({"destination": "group", "reason": "x"}, 400, "exactly one of"),
        (requested(3, destination="nowhere"), 400, "not a valid choice"),
        (requested(3, reason=" "), 400, "blank"),
        (requested(3, rate_per_second=1000), 400, "500"),
        ({"filter": {"colour": "red"}, "destination": "group", "reason": "x"}, 400, "Unknown filter"),
        (requested(2**63), 400, "less than or equal"),
        (requested(3, 99), 409, "broker-a/0/99"),
        ({"filter": {"tag": "none"}, "destination": "group", "reason": "x"}, 409, "No message is chosen"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(
    operator_api: Client, billing: ConsumerGroup, body: dict[str, Any], status: int, words: str
) -> None:
    a_letter(billing, 3)
    answer = post(operator_api, LIST, body)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert words in answer.text
    assert not Resend.objects.exists()


def test_a_plan_for_a_group_that_is_not_there_is_not_found(operator_api: Client) -> None:
    assert post(operator_api, LIST.replace("billing", "none"), requested(1)).status_code == 404


def test_a_started_one_is_left_to_the_workers(operator_api: Client, billing: ConsumerGroup) -> None:
    plan = planned(operator_api, billing)
    answer = post(operator_api, f"/api/v1/resends/{plan}/start/", {"confirm": "billing"})
    assert (answer.status_code, answer.json()["status"]) == (202, "running")
    assert Resend.objects.get().status == ResendStatus.RUNNING


def test_the_wrong_name_starts_nothing(operator_api: Client, billing: ConsumerGroup) -> None:
    plan = planned(operator_api, billing)
    answer = post(operator_api, f"/api/v1/resends/{plan}/start/", {"confirm": "shipping"})
    assert (answer.status_code, answer.json()["detail"]) == (409, "Type the group's name, billing, to confirm.")


def test_a_second_plan_leaves_out_what_the_first_has_sent(operator_api: Client, billing: ConsumerGroup) -> None:
    letter = a_letter(billing, 3)
    an_item(a_resend(billing), letter, at=ago(60))
    said = post(operator_api, LIST, requested(3)).json()
    assert said["outcomes"] == {"skipped": 1}
    answer = post(operator_api, f"/api/v1/resends/{said['id']}/start/", {"confirm": "billing"})
    assert answer.status_code == 409


def test_a_plan_is_cancelled_once(operator_api: Client, billing: ConsumerGroup) -> None:
    path = f"/api/v1/resends/{planned(operator_api, billing)}/cancel/"
    assert post(operator_api, path).json()["status"] == "cancelled"
    assert post(operator_api, path).status_code == 409


def test_a_plan_whose_time_is_over_says_so(api: Client, billing: ConsumerGroup) -> None:
    resend = a_resend(billing, status=ResendStatus.PLANNED, expires_at=NOW)
    assert api.get(f"/api/v1/resends/{resend.pk}/").json()["status"] == "expired"


def test_each_message_says_what_became_of_it(api: Client, billing: ConsumerGroup) -> None:
    resend = a_resend(billing)
    an_item(resend, a_letter(billing, 3), target_offset=9)
    an_item(resend, a_letter(billing, 4), outcome=ResendOutcome.UNKNOWN, error="it may have been sent")
    rows = api.get(f"/api/v1/resends/{resend.pk}/messages/").json()["results"]
    assert [(row["offset"], row["outcome"], row["target_offset"]) for row in rows] == [
        (3, "sent", 9),
        (4, "unknown", None),
    ]
    assert rows[1]["unknown"]["target_offset"] == "unknown whether it was sent"
    filtered = api.get(f"/api/v1/resends/{resend.pk}/messages/?outcome=unknown").json()
    assert (filtered["count"], filtered["results"][0]["offset"]) == (1, 4)


def test_they_are_listed_the_newest_first(api: Client, billing: ConsumerGroup) -> None:
    made = [a_resend(billing, created_at=ago(age)) for age in (60, 30)]
    assert [row["id"] for row in api.get(LIST).json()["results"]] == [str(made[1].pk), str(made[0].pk)]


def test_a_viewer_may_look_and_nothing_more(api: Client, billing: ConsumerGroup) -> None:
    resend = a_resend(billing, status=ResendStatus.PLANNED)
    paths = [f"/api/v1/resends/{resend.pk}/", f"/api/v1/resends/{resend.pk}/messages/", LIST]
    assert [api.get(path).status_code for path in paths] == [200, 200, 200]
    acts = [(LIST, requested(1)), *((f"/api/v1/resends/{resend.pk}/{act}/", None) for act in ("start", "cancel"))]
    answers = [post(api, path, body) for path, body in acts]
    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert "operator or admin" in answers[0].json()["detail"]


@pytest.mark.parametrize("act", ["", "messages/"])
def test_one_that_is_not_there_is_not_found(api: Client, act: str) -> None:
    assert api.get(f"/api/v1/resends/{uuid.uuid4()}/{act}").status_code == 404


@pytest.mark.parametrize("act", ["start", "cancel"])
def test_acts_are_posted(api: Client, act: str) -> None:
    assert api.get(f"/api/v1/resends/{uuid.uuid4()}/{act}/").status_code == 405
