"""Previews of rules over REST."""

import uuid
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from consumers.models import PreviewStatus, RulePreview
from consumers.words.reasons import stored_words
from tests.alert_rows import a_preview
from tests.world import ago

pytestmark = [pytest.mark.usefixtures("stopped_clock"), pytest.mark.django_db]
LIST = "/api/v1/alert-previews/"
RULE: dict[str, Any] = {"measure": "lag_messages", "comparison": "above", "threshold": 100, "severity": "warning"}
WISH: dict[str, Any] = {"rule": RULE, "from": "2026-03-13T03:00:00Z", "to": "2026-03-14T03:00:00Z"}
JSON = "application/json"


@pytest.fixture(autouse=True)
def _redis_is_down(settings: Any, tmp_path: Path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path / 'nobody-listens.sock'}"


def test_one_that_is_done_says_what_it_found(api: Client) -> None:
    result = {"fired": 3, "subjects": 2, "unknown_share": 0.25, "step_seconds": 60}
    notes = [
        "A condition that was met before the range counts from the start of the range.",
        "Whether a group is paused, or offline by habit, is known for today only.",
    ]
    preview = a_preview(status="done", result=result, rule=RULE, seconds=2.5, finished_at=ago(10))
    said = api.get(f"{LIST}{preview.pk}/").json()
    assert (said["status"], said["result"], said["rule"]) == ("done", result | {"notes": notes}, RULE)
    assert (said["from"], said["to"]) == ("2026-03-07T03:00:00Z", "2026-03-14T03:00:00Z")


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("waiting", "not finished"),
        ("failed", "no worker took it up"),
        ("cancelled", "cancelled"),
    ],
)
def test_one_that_is_not_done_counts_nothing(api: Client, status: str, reason: str) -> None:
    preview = a_preview(status=status, error=reason if status == "failed" else None)
    said = api.get(f"{LIST}{preview.pk}/").json()
    assert (said["result"], said["unknown"]["result"]) == (None, reason)
    assert {name for name, value in said.items() if value is None} == said["unknown"].keys()


def test_one_that_no_worker_can_be_told_of_is_refused_with_the_reason(operator_api: Client) -> None:
    answer = operator_api.post(LIST, WISH, JSON)
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    preview = RulePreview.objects.get()
    assert (preview.status, stored_words(preview.error)) == (PreviewStatus.FAILED, answer.json()["detail"])


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"from": "2026-03-14T02:59:00Z"}, "from"),
        ({"to": "2026-03-15T03:00:00Z"}, "to"),
        ({"rule": RULE | {"threshold": None}}, "threshold"),
        ({"rule": RULE | {"measure": "unowned_queues"}}, "measure"),
        ({"until": "2026-03-14T03:00:00Z"}, "until"),
    ],
)
def test_what_makes_no_sense_is_refused_by_field(operator_api: Client, change: dict[str, Any], name: str) -> None:
    answer = operator_api.post(LIST, WISH | change, JSON)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [name])
    assert not RulePreview.objects.exists()


def test_another_one_is_not_asked_for_meanwhile(operator_api: Client, api_user: Any) -> None:
    a_preview(by=api_user)
    answer = operator_api.post(LIST, WISH, JSON)
    assert (answer.status_code, "wait for it" in answer.json()["detail"]) == (409, True)


def test_it_says_how_many_come_before_it(api: Client) -> None:
    a_preview(status="running", created_at=ago(50))
    a_preview(status="waiting", created_at=ago(20))
    a_preview(status="done", created_at=ago(60))
    said = api.get(f"{LIST}{a_preview().pk}/").json()
    assert (said["ahead"], said["unknown"].get("ahead")) == (1, None)


def test_one_that_does_not_wait_has_none_before_it(api: Client) -> None:
    a_preview(status="waiting", created_at=ago(50))
    said = api.get(f"{LIST}{a_preview(status='running', started_at=ago(3)).pk}/").json()
    assert (said["ahead"], said["unknown"]["ahead"]) == (None, "not waiting")


def test_one_that_runs_is_cancelled(operator_api: Client, api_user: Any) -> None:
    preview = a_preview(status="running", started_at=ago(20))
    answer = operator_api.post(f"{LIST}{preview.pk}/cancel/", content_type=JSON)
    said = answer.json()
    assert (answer.status_code, said["status"], said["finished_at"]) == (200, "cancelled", "2026-03-14T03:00:00Z")
    assert (said["cancelled_by"], said["started_at"]) == (api_user.get_username(), "2026-03-14T02:59:40Z")


def test_one_that_is_done_is_not_cancelled(operator_api: Client) -> None:
    preview = a_preview(status="done")
    answer = operator_api.post(f"{LIST}{preview.pk}/cancel/", content_type=JSON)
    assert (answer.status_code, "this one is done" in answer.json()["detail"]) == (409, True)


def test_a_viewer_cancels_none_but_their_own(api: Client, api_user: Any) -> None:
    another, own = a_preview(), a_preview(by=api_user)
    refused = api.post(f"{LIST}{another.pk}/cancel/", content_type=JSON)
    assert (refused.status_code, "consumers.manage_alerts" in refused.json()["detail"]) == (403, True)
    assert api.post(f"{LIST}{own.pk}/cancel/", content_type=JSON).status_code == 200


def test_a_viewer_asks_for_none(api: Client) -> None:
    assert api.post(LIST, WISH, JSON).status_code == 403
    assert not RulePreview.objects.exists()


def test_one_that_is_not_there_is_not_found(api: Client) -> None:
    assert api.get(f"{LIST}{uuid.uuid4()}/").status_code == 404
    assert api.post(f"{LIST}{uuid.uuid4()}/cancel/", content_type=JSON).status_code == 404
