"""A preview that no worker answers ends with a sentence."""

from datetime import timedelta

import pytest

from consumers.alerts.preview.request import ANSWERED_WITHIN, fail_forgotten, fail_waiting
from consumers.alerts.preview.work import GRACE_SECONDS, LIMIT_SECONDS
from consumers.models import RulePreview
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db


def a_preview_of(status, age, **fields):
    return RulePreview.objects.create(
        rule={}, since=ago(86400), until=NOW, status=status, created_at=ago(age), **fields
    )


@pytest.mark.parametrize(
    ("status", "age", "then", "says"),
    [
        ("waiting", 299, "waiting", None),
        ("waiting", 301, "failed", "No worker started the preview in 5 minutes"),
        ("running", 179, "running", None),
        ("running", 181, "failed", "The worker that ran the preview ended"),
        ("cancelled", 9000, "cancelled", None),
        ("done", 9000, "done", None),
    ],
)
def test_it_fails_what_was_forgotten(status, age, then, says):
    row = a_preview_of(status, age)
    assert fail_forgotten(NOW) == (1 if says else 0)
    row.refresh_from_db()
    assert row.status == then
    assert says is None or (says in row.error and row.finished_at == NOW)


@pytest.mark.parametrize(("seconds", "then"), [(179, "running"), (181, "failed")])
def test_a_worker_has_its_time_from_when_it_took_it_up(seconds, then):
    row = a_preview_of("running", 400, started_at=ago(seconds))
    fail_forgotten(NOW)
    row.refresh_from_db()
    assert row.status == then


def test_no_worker_that_lives_is_taken_for_dead():
    assert timedelta(seconds=LIMIT_SECONDS + GRACE_SECONDS) < ANSWERED_WITHIN


@pytest.mark.parametrize(("status", "then"), [("waiting", "failed"), ("running", "running")])
def test_one_that_waits_can_be_failed_with_a_reason(status, then):
    row = a_preview_of(status, 5)
    fail_waiting(row.pk, "Redis does not answer.", NOW)
    row.refresh_from_db()
    assert (row.status, row.error) == (then, "Redis does not answer." if then == "failed" else None)
