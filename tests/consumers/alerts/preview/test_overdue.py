"""A preview that no worker answers ends with a sentence."""

import pytest

from consumers.alerts.preview.overdue import fail_forgotten, fail_waiting
from consumers.models import RulePreview
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db


def a_preview_of(status, age):
    return RulePreview.objects.create(rule={}, since=ago(86400), until=NOW, status=status, created_at=ago(age))


@pytest.mark.parametrize(
    ("status", "age", "then", "says"),
    [
        ("waiting", 299, "waiting", None),
        ("waiting", 301, "failed", "No Spark worker took it up within 5 minutes"),
        ("running", 599, "running", None),
        ("running", 601, "failed", "The worker that had it ended"),
        ("done", 9000, "done", None),
    ],
)
def test_it_fails_what_was_forgotten(status, age, then, says):
    row = a_preview_of(status, age)
    assert fail_forgotten(NOW) == (1 if says else 0)
    row.refresh_from_db()
    assert row.status == then
    assert says is None or (says in row.error and row.finished_at == NOW)


@pytest.mark.parametrize(("status", "then"), [("waiting", "failed"), ("running", "running")])
def test_one_that_waits_can_be_failed_with_a_reason(status, then):
    row = a_preview_of(status, 5)
    fail_waiting(row.pk, "Redis does not answer.", NOW)
    row.refresh_from_db()
    assert (row.status, row.error) == (then, "Redis does not answer." if then == "failed" else None)
