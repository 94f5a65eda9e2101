"""Silences have a reason and an end."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied

from consumers.alerts.fields import AlertRefused
from consumers.alerts.silences import end, make
from consumers.models import AlertRule, AuditEvent, Silence
from tests.alert_rows import a_rule, a_silence
from tests.world import NOW, ago

IN_AN_HOUR = ago(-3600)
FIELDS: dict[str, Any] = {"reason": "the database moves", "ends_at": IN_AN_HOUR, "group_pattern": "bill*"}
ALL: dict[str, Any] = {"reason": "the site moves", "ends_at": IN_AN_HOUR, "everything": True}


@pytest.fixture
def ann(db: None) -> User:
    user = User.objects.create_user("ann")
    user.groups.add(Group.objects.get(name="operator"))
    return user


def test_it_begins_now_and_is_of_everything_where_that_is_said(ann: User) -> None:
    silence = make(ALL, ann, NOW)
    silence.refresh_from_db()
    assert (silence.starts_at, silence.ends_at, silence.created_at, silence.by_name) == (NOW, IN_AN_HOUR, NOW, "ann")
    assert (silence.cluster, silence.group_pattern, silence.topic, silence.rule, silence.labels) == (
        "",
        "",
        "",
        None,
        {},
    )
    assert AuditEvent.objects.get().sentence == "Made the silence."


@pytest.mark.parametrize(
    "nothing",
    [{}, {"cluster": "", "group_pattern": " ", "topic": "", "rule": None, "labels": {}}, {"everything": False}],
)
def test_nothing_named_is_not_everything(ann: User, nothing: dict[str, Any]) -> None:
    with pytest.raises(AlertRefused) as refusal:
        make({"reason": "the database moves", "ends_at": IN_AN_HOUR} | nothing, ann, NOW)
    assert refusal.value.errors["everything"].startswith("Without a selection, the silence covers the whole site")
    assert not Silence.objects.exists()


def test_everything_is_not_narrowed(ann: User) -> None:
    with pytest.raises(AlertRefused) as refusal:
        make(ALL | {"cluster": "prod"}, ann, NOW)
    assert list(refusal.value.errors) == ["everything"]


def test_it_keeps_what_it_selects(ann: User) -> None:
    chosen = {"cluster": "prod", "group_pattern": "bill*", "topic": "Orders", "rule": a_rule()}
    silence = make(FIELDS | chosen | {"labels": {"team": "payments"}, "starts_at": ago(-60)}, ann, NOW)
    kept = Silence.objects.get(pk=silence.pk)
    assert {name: getattr(kept, name) for name in chosen} == chosen
    assert (kept.labels, kept.starts_at) == ({"team": "payments"}, ago(-60))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"reason": ""}, "reason"),
        ({"reason": "   "}, "reason"),
        ({"ends_at": None}, "ends_at"),
        ({"ends_at": NOW}, "ends_at"),
        ({"ends_at": ago(-367 * 86400)}, "ends_at"),
        ({"starts_at": ago(-3600)}, "ends_at"),
        ({"starts_at": ago(61)}, "starts_at"),
        ({"starts_at": NOW.replace(tzinfo=None)}, "starts_at"),
        ({"group_pattern": "bill[a-z]"}, "group_pattern"),
        ({"topic": "Ord*"}, "topic"),
        ({"labels": {"1team": "x"}}, "labels"),
        ({"rule": 7}, "rule"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_what_is_wrong_is_said_of_its_field(ann: User, change: dict[str, Any], field: str) -> None:
    with pytest.raises(AlertRefused) as refusal:
        make(FIELDS | change, ann, NOW)
    assert set(refusal.value.errors) == {field}
    assert not Silence.objects.exists()


@pytest.mark.parametrize("fields", [{}, {"reason": "", "ends_at": None}, {"reason": None, "ends_at": ""}])
def test_reason_and_end_are_both_wanted(ann: User, fields: dict[str, Any]) -> None:
    with pytest.raises(AlertRefused) as refusal:
        make(fields, ann, NOW)
    assert refusal.value.errors == {
        "reason": "Enter the reason for the silence.",
        "ends_at": "Enter an end: every silence has one.",
    }


@pytest.mark.parametrize("starts_at", [ago(600), ago(-600)])
def test_it_is_ended_early_and_says_by_whom(ann: User, starts_at: Any) -> None:
    silence = a_silence(starts_at=starts_at)
    end(silence, ann, NOW)
    silence.refresh_from_db()
    assert (silence.ends_at, silence.ended_by_name) == (NOW, "ann")


@pytest.mark.parametrize(("ends_at", "said"), [(ago(60), "02:59"), (NOW, "03:00")])
def test_what_is_over_is_not_ended_again(ann: User, ends_at: Any, said: str) -> None:
    silence = a_silence(ends_at=ends_at)
    with pytest.raises(AlertRefused, match=f"The silence ended at 2026-03-14 {said}:00 UTC"):
        end(silence, ann, NOW)


def test_a_viewer_may_not(db: None) -> None:
    viewer = User.objects.create_user("eve")
    with pytest.raises(PermissionDenied, match="manage_alerts"):
        make(FIELDS, viewer, NOW)
    with pytest.raises(PermissionDenied, match="manage_alerts"):
        end(a_silence(), viewer, NOW)


def test_one_that_went_with_its_rule_meanwhile_is_not_ended(ann: User) -> None:
    a_silence()
    silence = a_silence(rule=a_rule())
    AlertRule.objects.all().delete()
    with pytest.raises(AlertRefused, match="The silence no longer exists"):
        end(silence, ann, NOW)
