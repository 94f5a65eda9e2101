"""What is asked of a preview is checked before a worker has to look at it."""

from datetime import timedelta

import pytest

from consumers.alerts.fields import AlertRefused
from consumers.alerts.preview.request import request_preview
from consumers.models import PreviewStatus, RulePreview
from tests.alert_rows import a_preview, a_rule
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
LAG = {"measure": "lag_messages", "comparison": "above", "threshold": 100, "severity": "warning"}
STATE = {"measure": "state", "comparison": "in", "states": ["STOP"], "severity": "critical"}
UNREAD = {"measure": "broker_unread_seconds", "comparison": "above", "threshold": 60, "severity": "critical"}


def test_it_leaves_a_whole_rule_to_be_looked_at(django_user_model):
    ann = django_user_model.objects.create(username="ann")
    made = request_preview({**LAG, "group_pattern": "bill*"}, NOW - DAY, NOW, ann, NOW)
    assert (made.status, made.by, made.since, made.until) == (PreviewStatus.WAITING, ann, NOW - DAY, NOW)
    assert (made.rule["threshold"], made.rule["group_pattern"], made.rule["clear_seconds"]) == (100, "bill*", 300)


def test_a_name_need_be_neither_given_nor_free(django_user_model):
    a_rule("Far behind")
    ann, bob = (django_user_model.objects.create(username=name) for name in ("ann", "bob"))
    assert request_preview({**LAG, "name": "Far behind"}, NOW - DAY, NOW, ann, NOW).rule["name"] == "Far behind"
    assert request_preview(LAG, NOW - DAY, NOW, bob, NOW).rule["name"] == ""


def test_what_is_not_said_is_as_in_the_rule(django_user_model):
    rule = a_rule("Far behind", group_pattern="bill*")
    ann = django_user_model.objects.create(username="ann")
    made = request_preview({"threshold": 900}, NOW - DAY, NOW, ann, NOW, rule)
    assert (made.rule["name"], made.rule["measure"]) == ("Far behind", "time_lag_seconds")
    assert (made.rule["threshold"], made.rule["group_pattern"]) == (900, "bill*")


@pytest.mark.parametrize(
    ("fields", "since", "until", "field", "says"),
    [
        ({**LAG, "threshold": None}, NOW - DAY, NOW, "threshold", "give it a threshold"),
        ({**LAG, "measure": "blocked_seconds"}, NOW - DAY, NOW, "measure", "these have: state, lag_messages"),
        ({**STATE, "topic": "Orders"}, NOW - DAY, NOW, "measure", "state has no history by topic"),
        (LAG, NOW - DAY, NOW + DAY, "until", "in the future"),
        (LAG, ago(60), NOW, "since", "choose at least 5 minutes"),
        (LAG, NOW, NOW - DAY, "since", "choose at least 5 minutes"),
        (LAG, NOW - 91 * DAY, NOW, "since", "is retained for 2,160 hours"),
        (STATE, NOW - 8 * DAY, NOW, "since", "is retained for 168 hours"),
        (UNREAD, NOW - 3 * DAY, NOW, "since", "is retained for 48 hours"),
    ],
)
def test_it_refuses(django_user_model, fields, since, until, field, says):
    ann = django_user_model.objects.create(username="ann")
    with pytest.raises(AlertRefused) as refused:
        request_preview(fields, since, until, ann, NOW)
    assert says in refused.value.errors[field]
    assert not RulePreview.objects.exists()


@pytest.mark.parametrize("status", ["waiting", "running"])
def test_one_at_a_time_for_each_person(django_user_model, status):
    ann, bob = (django_user_model.objects.create(username=name) for name in ("ann", "bob"))
    a_preview(by=ann, status=status)
    with pytest.raises(AlertRefused, match="Another preview of yours"):
        request_preview(LAG, NOW - DAY, NOW, ann, NOW)
    assert request_preview(LAG, NOW - DAY, NOW, bob, NOW).by == bob


def test_one_that_no_worker_took_up_does_not_stand_in_the_way(django_user_model):
    ann = django_user_model.objects.create(username="ann")
    old = RulePreview.objects.create(by=ann, rule={}, since=NOW - DAY, until=NOW, status="waiting", created_at=ago(301))
    assert request_preview(LAG, NOW - DAY, NOW, ann, NOW).status == PreviewStatus.WAITING
    old.refresh_from_db()
    assert old.status == PreviewStatus.FAILED
    assert "No worker started the preview" in old.error
