"""Resets to look at over REST."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from consumers.models import ConsumerGroup, ResetMethod, ResetOutcome, ResetQueue, ResetStatus, ResetStep
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import ResetAct
from tests.reset_rows import a_queue_left_out, a_reset, a_reset_queue, an_event
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.usefixtures("stopped_clock")

LIST = "/api/v1/resets/"
# What scripts hold on to, beside much else.
PROMISED = {"id", "status", "expires_at", "warnings", "queues"}
PROMISED_OF_QUEUES = {"topic", "broker", "queue_id", "now", "target", "replayed_messages", "skipped_messages"}
PROMISED_OF_QUEUES |= {"clipped", "restorable", "method", "before", "after", "outcome"}
ACTS = ("apply", "resume", "restore", "cancel")


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    return a_group(a_cluster())


def document(api: Client, reset: Any, rest: str = "") -> dict[str, Any]:
    answer = api.get(f"{LIST}{reset.pk}/{rest}")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def test_a_plan_says_of_each_queue_what_would_happen(api: Client, billing: ConsumerGroup) -> None:
    reset = a_reset(billing, warnings=["20 messages come again."])
    a_reset_queue(reset, 3)
    said = document(api, reset)
    assert said.keys() >= PROMISED
    assert (said["status"], said["expires_at"]) == ("planned", "2026-03-14T03:10:00Z")
    assert said["warnings"] == ["20 messages come again."]
    (queue,) = said["queues"]
    assert queue.keys() >= PROMISED_OF_QUEUES
    place = {"topic": "Orders", "broker": "broker-a", "queue_id": 3, "now": 60, "target": 40}
    assert queue.items() >= (place | {"replayed_messages": 20, "method": "server_side", "restorable": True}).items()


def test_one_that_was_applied_says_what_became_of_each_queue(api: Client, billing: ConsumerGroup) -> None:
    reset = a_reset(billing, status=ResetStatus.APPLIED, started_at=ago(40), finished_at=ago(10))
    read = {"step": ResetStep.READ_BACK, "outcome": ResetOutcome.CONFIRMED, "before": 60, "before_at": ago(40)}
    a_reset_queue(reset, **read, after=41, after_at=ago(12), readings=[[ago(38).isoformat(), 40]])
    said = document(api, reset)
    (queue,) = said["queues"]
    assert (queue["before"], queue["after"], queue["outcome"]) == (60, 41, "CONFIRMED")
    assert queue["readings"] == [{"at": "2026-03-14T02:59:22Z", "offset": 40, "unknown": {}}]
    assert (said["seconds"], said["totals"]["outcomes"], said["totals"]["done"]) == (30.0, {"CONFIRMED": 1}, 1)


def test_it_says_who_did_what_with_it(api: Client, billing: ConsumerGroup) -> None:
    reset = a_reset(billing)
    an_event(reset, stored_reason(ResetAct.REQUESTED, target_kind="time"))
    (event,) = document(api, reset)["events"]
    assert event == {
        "at": "2026-03-14T03:00:00Z",
        "by": "ops",
        "address": "10.1.2.3",
        "via": "rest",
        "sentence": "Requested a plan: time.",
        "unknown": {},
        "codes": {"sentence": "plan_requested"},
    }


@pytest.mark.parametrize("status", list(ResetStatus))
def test_every_null_says_why(api: Client, billing: ConsumerGroup, status: ResetStatus) -> None:
    bare = dict.fromkeys(("planned_at", "expires_at", "seen", "value"))
    said = document(api, a_reset(billing, status=status, **bare))
    assert {name for name, value in said.items() if value is None} == said["unknown"].keys()


def test_no_queue_is_made_up_while_the_plan_is_made(api: Client, billing: ConsumerGroup) -> None:
    said = document(api, a_reset(billing, status=ResetStatus.PLANNING, seen=None))
    assert (said["queues"], said["totals"]) == (None, None)
    assert said["unknown"]["queues"] == "the plan is not ready yet"


@pytest.mark.parametrize(("queues", "inline"), [(1000, True), (1001, False)])
def test_many_queues_are_had_in_pages(api: Client, billing: ConsumerGroup, queues: int, inline: bool) -> None:
    reset = a_reset(billing)
    rows = [
        ResetQueue(reset=reset, topic="T", broker="b", queue_id=n, method=ResetMethod.SERVER) for n in range(queues)
    ]
    ResetQueue.objects.bulk_create(rows)
    said = document(api, reset)
    assert (said["queues"] is not None, len(said["queues"] or [])) == (inline, queues if inline else 0)
    assert said["unknown"].get("queues") == (None if inline else "1,001 queues: queues_url lists them page by page")
    assert api.get(said["queues_url"]).json()["count"] == queues


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", [1, 2, 0]),
        ("?outcome=UNKNOWN", [1]),
        ("?step=planned", []),
        ("?left_out=true", [2]),
        ("?left_out=false&page_size=1&page=2", [0]),
    ],
)
def test_queues_are_chosen_by_filters(api: Client, billing: ConsumerGroup, query: str, ids: list[int]) -> None:
    reset = a_reset(billing)
    for queue_id, outcome in enumerate((ResetOutcome.CONFIRMED, ResetOutcome.UNKNOWN)):
        a_reset_queue(reset, queue_id, step=ResetStep.READ_BACK, outcome=outcome)
    a_queue_left_out(reset, 2)
    assert [row["queue_id"] for row in document(api, reset, f"queues/{query}")["results"]] == ids


def test_they_are_listed_the_newest_first_in_pages(api: Client, billing: ConsumerGroup) -> None:
    made = [a_reset(billing, created_at=ago(age)) for age in (60, 40, 20)]
    said = api.get(f"{LIST}?page_size=2").json()
    assert (said["count"], [row["id"] for row in said["results"]]) == (3, [str(made[2].pk), str(made[1].pk)])
    assert [row["id"] for row in api.get(said["next"]).json()["results"]] == [str(made[0].pk)]


@pytest.mark.parametrize(("queues", "is_short"), [(100, True), (101, False)])
def test_long_lists_of_queues_stand_in_the_reset_alone(
    api: Client, billing: ConsumerGroup, queues: int, is_short: bool
) -> None:
    value = [{"topic": "Orders", "broker": "broker-a", "queue_id": n, "offset": 40} for n in range(queues)]
    reset = a_reset(billing, kind="offsets", value=value)
    (row,) = api.get(LIST).json()["results"]
    assert (row["value"] == value, "value" in row["unknown"]) == (is_short, not is_short)
    assert document(api, reset)["value"] == value


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("cluster=prod", 2),
        ("cluster=other", 0),
        ("group=billing&status=planned", 1),
        ("status=applied", 1),
        ("by=eve", 1),
    ],
)
def test_a_list_is_chosen_by_filters(api: Client, billing: ConsumerGroup, query: str, count: int) -> None:
    a_reset(billing)
    a_reset(billing, status=ResetStatus.APPLIED, applied_by_name="eve")
    assert api.get(f"{LIST}?{query}").json()["count"] == count


@pytest.mark.parametrize("query", ["?status=done", "?colour=red", "?page_size=0"])
def test_a_filter_that_makes_no_sense_is_refused(api: Client, billing: ConsumerGroup, query: str) -> None:
    answer = api.get(f"{LIST}{query}")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")


@pytest.mark.parametrize("rest", ["", "queues/", "export/"])
def test_one_that_is_not_there_is_not_found(api: Client, billing: ConsumerGroup, rest: str) -> None:
    answer = api.get(f"{LIST}{uuid.uuid4()}/{rest}")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    assert "There is no reset" in answer.json()["detail"]


def test_a_viewer_learns_that_nothing_may_be_done(api: Client, billing: ConsumerGroup) -> None:
    acts = document(api, a_reset(billing))["acts"]
    assert set(acts) == set(ACTS)
    assert all("the role operator or admin" in why for why in acts.values())


@pytest.mark.parametrize(
    ("fields", "possible"),
    [
        ({}, ["apply", "cancel"]),
        ({"expires_at": NOW}, ["cancel"]),
        ({"status": ResetStatus.APPLYING}, []),
        ({"status": ResetStatus.PARTIAL}, ["resume", "restore"]),
        ({"status": ResetStatus.APPLIED}, ["restore"]),
        ({"status": ResetStatus.REFUSED}, []),
    ],
)
def test_an_operator_learns_what_may_be_done(
    api: Client, api_user: User, billing: ConsumerGroup, fields: dict[str, Any], possible: list[str]
) -> None:
    api_user.groups.add(Group.objects.get(name="operator"))
    reset = a_reset(billing, **fields)
    a_reset_queue(reset, 0, step=ResetStep.READ_BACK, outcome=ResetOutcome.CONFIRMED, before=60)
    if fields.get("status") == ResetStatus.PARTIAL:
        a_reset_queue(reset, 1, step=ResetStep.FAILED)
    acts = document(api, reset)["acts"]
    assert [act for act in ACTS if acts[act] is None] == possible
