"""Applying, resuming and cancelling resets over REST. What a worker does with them is tested elsewhere."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from consumers.models import ConsumerGroup, Reset, ResetStatus, ResetStep
from tests.reset_rows import a_reset, a_reset_queue
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.usefixtures("stopped_clock", "redis_is_down")
ACTS = ("apply", "resume", "restore", "cancel")
BODIES: dict[str, dict[str, str]] = {
    "apply": {"confirm": "billing"},
    "resume": {"confirm": "billing"},
    "restore": {"reason": "a mistake"},
    "cancel": {},
}


@pytest.fixture(autouse=True)
def billing(db: None) -> ConsumerGroup:
    return a_group(a_cluster())


def planned(group: ConsumerGroup, **fields: Any) -> Reset:
    reset = a_reset(group, **fields)
    a_reset_queue(reset)
    return reset


def half_done(group: ConsumerGroup) -> Reset:
    reset = a_reset(group, status=ResetStatus.PARTIAL)
    a_reset_queue(reset, step=ResetStep.FAILED, error="broker-a refused: system busy")
    return reset


def post(client: Client, reset: Reset | uuid.UUID, act: str, body: Any = None) -> Any:
    pk = reset.pk if isinstance(reset, Reset) else reset
    said = BODIES[act] if body is None else body
    return client.post(f"/api/v1/resets/{pk}/{act}/", said, content_type="application/json")


def test_a_plan_that_is_applied_is_left_to_the_workers(operator_api: Client, billing: ConsumerGroup) -> None:
    answer = post(operator_api, planned(billing), "apply")
    said = answer.json()
    assert (answer.status_code, said["status"], said["applied_by"]) == (202, "applying", "alice")
    assert said["unknown"]["working_at"] == "no worker has started it yet"
    assert [event["sentence"] for event in said["events"]] == ["Applied the plan."]


def test_one_that_ended_half_way_goes_on(operator_api: Client, billing: ConsumerGroup) -> None:
    answer = post(operator_api, half_done(billing), "resume")
    assert (answer.status_code, answer.json()["status"]) == (202, "applying")
    assert answer.json()["totals"]["steps"] == {"planned": 1}


def test_a_plan_is_cancelled_once(operator_api: Client, billing: ConsumerGroup) -> None:
    reset = planned(billing)
    answer = post(operator_api, reset, "cancel")
    assert (answer.status_code, answer.json()["status"]) == (202, "cancelled")
    assert post(operator_api, reset, "cancel").status_code == 409


@pytest.mark.parametrize(("act", "make"), [("apply", planned), ("resume", half_done)])
def test_another_name_than_the_groups_moves_nothing(
    operator_api: Client, billing: ConsumerGroup, act: str, make: Any
) -> None:
    reset = make(billing)
    status = reset.status
    answer = post(operator_api, reset, act, {"confirm": "billing "})
    assert (answer.status_code, answer.json()["detail"]) == (409, "Type the group's name, billing, to confirm.")
    reset.refresh_from_db()
    assert reset.status == status


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"expires_at": NOW}, "The plan has expired"),
        ({"status": ResetStatus.APPLIED}, "Only a plan can be applied"),
        ({"status": ResetStatus.PLANNING}, "Only a plan can be applied"),
    ],
)
def test_what_is_no_plan_any_more_is_not_applied(
    operator_api: Client, billing: ConsumerGroup, fields: dict[str, Any], words: str
) -> None:
    answer = post(operator_api, planned(billing, **fields), "apply")
    assert (answer.status_code, answer["Content-Type"]) == (409, "application/problem+json")
    assert words in answer.json()["detail"]


def test_only_what_ended_half_way_goes_on(operator_api: Client, billing: ConsumerGroup) -> None:
    answer = post(operator_api, planned(billing), "resume")
    assert (answer.status_code, "ended early" in answer.json()["detail"]) == (409, True)


def test_a_second_person_has_to_apply_where_that_is_set(
    operator_api: Client, api_user: User, billing: ConsumerGroup, settings: Any
) -> None:
    settings.CONSUMERSCOPE_RESET_SECOND_PERSON = True
    answer = post(operator_api, planned(billing, by=api_user, by_name="alice"), "apply")
    assert (answer.status_code, "another person has to apply" in answer.json()["detail"]) == (409, True)


def test_nothing_is_applied_to_a_read_only_cluster(operator_api: Client, billing: ConsumerGroup, settings: Any) -> None:
    settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]
    answer = post(operator_api, planned(billing), "apply")
    assert (answer.status_code, "read-only" in answer.json()["detail"]) == (409, True)


@pytest.mark.parametrize(
    ("act", "body", "field"),
    [
        ("apply", {}, "confirm"),
        ("apply", {"confirm": "billing", "force": True}, "force"),
        ("resume", {"confirm": ""}, "confirm"),
        ("cancel", {"confirm": "billing"}, "confirm"),
    ],
)
def test_what_is_malformed_does_nothing(
    operator_api: Client, billing: ConsumerGroup, act: str, body: dict[str, Any], field: str
) -> None:
    reset = planned(billing)
    answer = post(operator_api, reset, act, body)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])
    reset.refresh_from_db()
    assert reset.status == ResetStatus.PLANNED


@pytest.mark.parametrize("act", ACTS)
def test_a_viewer_does_nothing(api: Client, billing: ConsumerGroup, act: str) -> None:
    reset = planned(billing)
    answer = post(api, reset, act)
    assert (answer.status_code, "the role operator or admin" in answer.json()["detail"]) == (403, True)
    reset.refresh_from_db()
    assert reset.status == ResetStatus.PLANNED


@pytest.mark.parametrize("act", ACTS)
def test_one_that_is_not_there_is_not_found(operator_api: Client, billing: ConsumerGroup, act: str) -> None:
    assert post(operator_api, uuid.uuid4(), act).status_code == 404


@pytest.mark.parametrize("act", ACTS)
def test_acts_are_posted(operator_api: Client, billing: ConsumerGroup, act: str) -> None:
    assert operator_api.get(f"/api/v1/resets/{planned(billing).pk}/{act}/").status_code == 405
