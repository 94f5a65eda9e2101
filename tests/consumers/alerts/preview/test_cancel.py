"""What waits or runs is given up, by whoever asked for it or may manage alerts; what has ended stays as it ended."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from consumers.alerts.fields import AlertRefused
from consumers.alerts.preview import work
from consumers.alerts.preview.request import cancel, request_preview, why_not_permitted
from consumers.lake.store import Lake
from consumers.models import RulePreview
from tests.alert_rows import a_preview
from tests.preview_rows import LAG, a_rule_of
from tests.world import NOW, ago


@pytest.fixture
def vera(db: None) -> User:
    return User.objects.create_user("vera")


@pytest.mark.parametrize("status", ["waiting", "running"])
def test_what_is_not_done_is_given_up(vera: User, status: str) -> None:
    row = a_preview(status=status)
    cancel(row, vera, NOW)
    row.refresh_from_db()
    assert (row.status, row.cancelled_by_name, row.finished_at) == ("cancelled", "vera", NOW)


@pytest.mark.parametrize("status", ["done", "failed", "cancelled"])
def test_what_has_ended_stays_as_it_ended(vera: User, status: str) -> None:
    row = a_preview(status=status, finished_at=ago(60))
    with pytest.raises(AlertRefused, match=f"this one is {status}"):
        cancel(row, vera, NOW)
    row.refresh_from_db()
    assert (row.status, row.cancelled_by_name, row.finished_at) == (status, None, ago(60))


def test_one_that_ended_meanwhile_is_not_given_up(vera: User) -> None:
    row = a_preview(status="running")
    RulePreview.objects.filter(pk=row.pk).update(status="done")
    with pytest.raises(AlertRefused, match="is done"):
        cancel(row, vera, NOW)


def test_whoever_asked_may_give_it_up_without_a_role(vera: User) -> None:
    assert why_not_permitted(a_preview(by=vera), vera) is None


def test_others_need_the_permission(vera: User, django_user_model: Any) -> None:
    row = a_preview(by=vera)
    other = django_user_model.objects.create_user("otto")
    assert "consumers.manage_alerts" in str(why_not_permitted(row, other))
    assert why_not_permitted(row, django_user_model.objects.create_superuser("root")) is None


def test_another_may_be_asked_for_at_once(vera: User) -> None:
    cancel(a_preview(by=vera, status="running"), vera, NOW)
    made = request_preview(a_rule_of(**LAG), ago(3600), NOW, vera, NOW)
    assert made.status == "waiting"


def test_a_worker_does_not_begin_what_was_given_up(vera: User) -> None:
    row = a_preview()
    cancel(row, vera, NOW)
    work.work_on(row.pk, lambda: NOW, _no_lake)
    row.refresh_from_db()
    assert (row.status, row.started_at) == ("cancelled", None)


def test_what_fails_because_it_was_given_up_is_no_failure(vera: User) -> None:
    row = a_preview()

    def lake() -> Lake:
        cancel(row, vera, NOW)
        raise RuntimeError("Something fails.")

    work.work_on(row.pk, lambda: NOW, lake)
    row.refresh_from_db()
    assert (row.status, row.error, row.seconds) == ("cancelled", None, None)


def _no_lake() -> Lake:
    raise RuntimeError("Nobody is to ask for it.")
