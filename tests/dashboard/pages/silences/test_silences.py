"""Silences: listed by when they hold, made with a reason and an end, ended early."""

from datetime import timedelta

import pytest
from django.test import Client

from consumers.models import Silence
from tests.alert_pages import shown
from tests.alert_rows import a_rule, a_silence
from tests.world import NOW, a_cluster, ago

pytestmark = pytest.mark.django_db
GOOD = {"reason": "the database moves", "length": "4h"}


def test_each_stands_where_it_belongs(viewer: Client) -> None:
    a_silence(group_pattern="bill*")
    a_silence(group_pattern="audit", starts_at=ago(-60))
    a_silence(group_pattern="pricing", ends_at=ago(60), ended_by_name="eve")
    kinds = viewer.get("/alerts/silences/").context["kinds"]
    assert [[row.group_pattern for row in rows] for _title, rows, _n, _end in kinds] == [
        ["bill*"],
        ["audit"],
        ["pricing"],
    ]


def test_without_one_it_says_that_all_is_told(viewer: Client) -> None:
    assert "No active silences" in shown(viewer.get("/alerts/silences/"))


@pytest.mark.parametrize(
    ("said", "ends_at"),
    [
        ({"length": "1h"}, NOW + timedelta(hours=1)),
        ({"length": "1d"}, NOW + timedelta(days=1)),
        ({"length": "at", "ends_at": "2026-03-14 06:00"}, NOW + timedelta(hours=3)),
        ({"length": "", "ends_at": "2026-03-14 06:00"}, NOW + timedelta(hours=3)),
        ({"length": "1h", "starts_at": "2026-03-14 05:00"}, NOW + timedelta(hours=3)),
    ],
)
def test_one_is_made_until_the_time_that_was_chosen(operator: Client, said: dict[str, str], ends_at: object) -> None:
    rule = a_rule()
    wanted = {"group_pattern": "bill*", "rule": str(rule.pk), "labels": "team=payments\r\nenv=prod"}
    answer = operator.post("/alerts/silences/", GOOD | wanted | said)
    assert (answer.status_code, answer["Location"]) == (302, "/alerts/silences/")
    silence = Silence.objects.get()
    assert (silence.ends_at, silence.rule, silence.by_name) == (ends_at, rule, "operator")
    assert silence.labels == {"team": "payments", "env": "prod"}


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"reason": ""}, "reason"),
        ({"length": "at", "ends_at": "tomorrow"}, "ends_at"),
        ({"length": "at", "ends_at": "2026-03-14 02:00"}, "ends_at"),
        ({"length": "for ever"}, "length"),
        ({"starts_at": "soon"}, "starts_at"),
        ({"starts_at": "9999-12-31 23:30"}, "starts_at"),
        ({"labels": "payments"}, "labels"),
        ({"rule": "99"}, "rule"),
        ({"rule": "x"}, "rule"),
        ({"group_pattern": "a[bc]"}, "group_pattern"),
    ],
)
def test_what_is_wrong_is_said_by_its_field_and_nothing_is_lost(
    operator: Client, said: dict[str, str], field: str
) -> None:
    answer = operator.post("/alerts/silences/", GOOD | {"cluster": "prod"} | said)
    assert answer.status_code == 400
    assert f'<a href="#field-{field}">' in answer.text
    assert f'id="field-{field}"' in answer.text
    assert 'value="prod"' in answer.text
    assert not Silence.objects.exists()


def test_an_empty_form_silences_nothing_unless_everything_is_ticked(operator: Client) -> None:
    answer = operator.post("/alerts/silences/", GOOD)
    assert answer.status_code == 400
    assert '<a href="#field-everything">' in answer.text
    assert 'id="field-everything"' in answer.text
    assert not Silence.objects.exists()
    assert operator.post("/alerts/silences/", GOOD | {"everything": "1"}).status_code == 302
    assert Silence.objects.get().group_pattern == ""


def test_a_link_fills_the_form_in(operator: Client) -> None:
    a_cluster()
    page = operator.get("/alerts/silences/?cluster=prod&group_pattern=billing").text
    assert 'name="group_pattern" value="billing"' in page


def test_one_is_ended_early(operator: Client) -> None:
    silence = a_silence()
    assert operator.post(f"/alerts/silences/{silence.pk}/end/").status_code == 302
    silence.refresh_from_db()
    assert (silence.ends_at, silence.ended_by_name) == (NOW, "operator")
    again = operator.post(f"/alerts/silences/{silence.pk}/end/")
    assert again.status_code == 409
    assert "The silence ended at" in shown(again)
    assert operator.post("/alerts/silences/99/end/").status_code == 404


def test_a_viewer_looks_and_is_told_why(viewer: Client) -> None:
    silence = a_silence()
    page = viewer.get("/alerts/silences/")
    assert "the database moves" in shown(page)
    assert "You need the role operator or admin" in shown(page)
    assert "<form" not in page.text.partition("<main")[2]
    assert viewer.post("/alerts/silences/", GOOD).status_code == 403
    assert viewer.post(f"/alerts/silences/{silence.pk}/end/").status_code == 403
