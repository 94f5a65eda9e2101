"""What a rule would have done over the past, as it is asked for from its form, and waited for."""

from datetime import timedelta
from html import unescape

import pytest

from consumers.models import RulePreview
from consumers.words.reasons import stored_words
from tests.alert_rows import a_preview, a_rule
from tests.preview_pages import RULE, done, shown
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db

TYPED = {
    "name": "Slow",
    "measure": "time_lag_seconds",
    "threshold": "10 min",
    "severity": "critical",
    "hours": "24",
    "for_seconds": "5 min",
    "clear_seconds": "5 min",
    "group_pattern": "bill*",
    "enabled": "1",
}


@pytest.mark.parametrize(("hours", "days"), [("24", 1), ("168", 7)])
def test_it_is_asked_for_with_the_values_as_they_stand(operator, redis, hours, days):
    answer = operator.post("/alerts/previews/", TYPED | {"hours": hours})
    row = RulePreview.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/alerts/previews/{row.pk}/")
    assert (row.rule["threshold"], row.rule["group_pattern"], row.rule["name"]) == (600, "bill*", "Slow")
    assert (row.since, row.until, row.by.get_username()) == (NOW - timedelta(days=days), NOW, "operator")


def test_another_range_than_those_offered_is_refused(operator):
    assert operator.post("/alerts/previews/", TYPED | {"hours": "many"}).status_code == 400
    assert not RulePreview.objects.exists()


def test_a_past_that_is_kept_for_less_is_looked_at_as_far_as_it_reaches(operator, redis):
    operator.post("/alerts/previews/", TYPED | {"measure": "broker_unread_seconds", "hours": "168"})
    assert RulePreview.objects.get().since == NOW - timedelta(hours=48)


def test_it_fails_with_the_reason_where_redis_is_down(operator, redis_is_down):
    answer = operator.post("/alerts/previews/", TYPED)
    row = RulePreview.objects.get()
    assert (answer.status_code, row.status) == (302, "failed")
    assert stored_words(row.error) in unescape(shown(operator, row))


@pytest.mark.parametrize(
    ("wrong", "field", "says"),
    [
        ({"threshold": "soon"}, "threshold", "Write a length of time"),
        ({"threshold": ""}, "threshold", "give it a threshold"),
        ({"measure": "unowned_queues", "threshold": "1"}, "measure", "has no history"),
    ],
)
def test_what_is_wrong_is_said_in_the_form(operator, wrong, field, says):
    answer = operator.post("/alerts/previews/", TYPED | wrong)
    assert answer.status_code == 400
    assert says in dict(answer.context["problems"])[f"field-{field}"]
    assert not RulePreview.objects.exists()


def test_a_second_one_waits_for_the_end_of_the_first(operator, redis):
    operator.post("/alerts/previews/", TYPED)
    answer = operator.post("/alerts/previews/", TYPED | {"rule": str(a_rule("Slow").pk)})
    assert answer.status_code == 409
    assert "Another preview of yours" in answer.content.decode()


def test_a_viewer_may_look_but_not_ask(viewer):
    assert viewer.post("/alerts/previews/", TYPED).status_code == 403
    assert "It would have fired" in shown(viewer, done())


@pytest.mark.parametrize(
    ("status", "says"),
    [("waiting", "Waiting for a worker."), ("running", "A worker is replaying the history.")],
)
def test_it_refreshes_until_it_is_known(operator, status, says):
    row = a_preview(rule=RULE, status=status)
    said = shown(operator, row)
    assert says in said
    assert f'hx-get="/alerts/previews/{row.pk}/part/' in said
    part = operator.get(f"/alerts/previews/{row.pk}/part/", headers={"HX-Request": "true"})
    assert says in part.content.decode()


@pytest.mark.parametrize(
    ("status", "age", "says"),
    [
        ("waiting", 15, "Previews run one after another"),
        ("waiting", 14, None),
        ("running", 15, "The limit is 60 s."),
    ],
)
def test_it_says_how_long_ago_it_was_asked_for(operator, status, age, says):
    row = a_preview(rule=RULE, status=status)
    RulePreview.objects.filter(pk=row.pk).update(created_at=ago(age))
    asked = shown(operator, row).split('id="asked"')[1].split("</p>")[0]
    assert f"{age} s ago" in asked
    assert "one after another" not in asked if says is None else says in asked


def test_the_page_is_loaded_anew_once_it_is_known(operator):
    part = operator.get(f"/alerts/previews/{done().pk}/part/", headers={"HX-Request": "true"})
    assert part["HX-Refresh"] == "true"


def test_a_failure_is_shown(operator):
    row = a_preview(rule=RULE, status="failed", error="No worker took it up.", finished_at=NOW)
    assert "No worker took it up." in shown(operator, row)


def test_it_leads_back_to_the_form_with_its_values(operator):
    kept = a_rule("Slow", threshold=100)
    href = operator.get(f"/alerts/previews/{done().pk}/").context["form_href"]
    assert href.startswith(f"/alerts/rules/{kept.pk}/?")
    said = operator.get(href).content.decode()
    assert 'name="threshold" value="10 min"' in said
    assert 'name="group_pattern" value="bill*"' in said


def test_one_that_is_not_there_is_not_found(operator):
    path = "/alerts/previews/0b5d3a5e-0000-4000-8000-000000000000/"
    assert operator.get(path).status_code == 404
