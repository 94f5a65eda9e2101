"""Silences that repeat each week, over REST and in the evaluation. It is Saturday, 2026-03-14, 03:00 UTC."""

from typing import Any

import pytest
from django.test import Client

from consumers.alerts.evaluation.rows import silences_at
from consumers.models import Silence
from tests.alert_rows import a_rule, a_silence, an_incident
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = [pytest.mark.usefixtures("stopped_clock"), pytest.mark.django_db]
LIST, JSON = "/api/v1/silences/", "application/json"
SATURDAYS = {"days": ["sat"], "start": "04:00", "end": "06:00", "time_zone": "Europe/Berlin"}
SUNDAYS = SATURDAYS | {"days": ["sun"]}
WISH: dict[str, Any] = {"group_pattern": "bill*", "ends_at": "2026-06-14T05:00:00Z", "reason": "backups"}


def kept(answer: Any, code: int = 200) -> dict[str, Any]:
    assert answer.status_code == code, answer.content
    return dict(answer.json())


def test_it_is_active_only_within_its_window() -> None:
    a_silence(weekly=SATURDAYS, ends_at=ago(-30 * 86400), reason="now")
    a_silence(weekly=SUNDAYS, ends_at=ago(-30 * 86400), reason="tomorrow")
    assert [one.reason for one in silences_at(NOW)] == ["now"]
    assert silences_at(ago(-7200)) == []


def test_the_one_that_lasts_longest_counts_by_the_window_that_is_open() -> None:
    a_silence(weekly=SATURDAYS, ends_at=ago(-30 * 86400), reason="two hours")
    a_silence(ends_at=ago(-3 * 3600), reason="three hours")
    assert [one.reason for one in silences_at(NOW)] == ["three hours", "two hours"]


def test_it_says_when_it_repeats_and_the_next_windows(api: Client) -> None:
    silence = a_silence(weekly=SATURDAYS, starts_at=ago(86400), ends_at=ago(-30 * 86400))
    said = kept(api.get(f"{LIST}{silence.pk}/"))
    assert said["weekly"] == SATURDAYS | {"text": "Sat 04:00–06:00 Europe/Berlin"}
    assert said["status"] == "active"
    assert [one["starts_at"] for one in said["windows"]] == [
        "2026-03-14T03:00:00Z", "2026-03-21T03:00:00Z", "2026-03-28T03:00:00Z"
    ]  # fmt: skip


def test_one_that_does_not_repeat_says_so(api: Client) -> None:
    said = kept(api.get(f"{LIST}{a_silence().pk}/"))
    assert (said["weekly"], said["unknown"]["weekly"]) == (None, "does not repeat")
    assert said["windows"] == [{"starts_at": said["starts_at"], "ends_at": said["ends_at"]}]


@pytest.mark.parametrize(("status", "reasons"), [("active", ["now"]), ("coming", ["tomorrow"]), ("past", ["over"])])
def test_between_its_windows_it_is_listed_as_coming(api: Client, status: str, reasons: list[str]) -> None:
    a_silence(weekly=SATURDAYS, ends_at=ago(-30 * 86400), reason="now")
    a_silence(weekly=SUNDAYS, ends_at=ago(-30 * 86400), reason="tomorrow")
    a_silence(weekly=SATURDAYS, ends_at=ago(60), reason="over")
    assert [row["reason"] for row in kept(api.get(LIST, {"status": status}))["results"]] == reasons


def test_it_is_made(operator_api: Client) -> None:
    said = kept(operator_api.post(LIST, WISH | {"weekly": SUNDAYS}, JSON), 201)
    assert (said["status"], said["weekly"]["days"]) == ("coming", ["sun"])
    assert Silence.objects.get().weekly == SUNDAYS


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"time_zone": "Mars/Olympus"}, "Enter a time zone as Europe/Berlin, or UTC."),
        ({"start": "25:00"}, "Enter the start of the window as 02:00."),
        ({"end": "4"}, "Enter the end of the window as 04:00."),
    ],
)
def test_a_wrong_window_is_refused(operator_api: Client, wrong: dict[str, str], sentence: str) -> None:
    said = kept(operator_api.post(LIST, WISH | {"weekly": SUNDAYS | wrong}, JSON), 400)
    assert said["errors"] == {"weekly": [sentence]}


def test_one_without_any_window_is_refused(operator_api: Client) -> None:
    said = kept(operator_api.post(LIST, WISH | {"weekly": SUNDAYS, "ends_at": "2026-03-14T20:00:00Z"}, JSON), 400)
    assert said["errors"] == {"weekly": ["No such window lies between the start and the end."]}


def test_an_incident_says_when_the_window_ends(api: Client) -> None:
    silence = a_silence(weekly=SATURDAYS, ends_at=ago(-30 * 86400))
    an_incident(a_rule(), a_group(a_cluster()), silence=silence)
    (row,) = kept(api.get("/api/v1/alerts/"))["results"]
    assert row["silenced_until"] == "2026-03-14T05:00:00Z"
