"""What a rule would have done over the past, as it is asked for from its form, and shown."""

from datetime import timedelta

import pytest

from consumers.models import RulePreview
from dashboard.pages.preview_lines import unknown_words
from tests.alert_rows import a_preview, a_rule
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
RULE = {"name": "Slow", "measure": "time_lag_seconds", "comparison": "above", "threshold": 600.0}
RULE |= {"severity": "critical", "for_seconds": 300.0, "clear_seconds": 300.0, "group_pattern": "bill*"}
BILLING = {"kind": "group", "title": "billing", "cluster": "prod", "group": "billing"}
AUDIT = {"kind": "group", "title": "audit", "cluster": "prod", "group": "audit"}


def incident(subject, fired, over, worst=900.0):
    moments = {"from": ago(fired + 300), "fired_at": ago(fired), "to": None if over is None else ago(over)}
    told = {name: None if at is None else at.isoformat() for name, at in moments.items()}
    return {"subject": subject, **told, "worst_value": worst, "unknown": {}}


def a_day(day, fired, alone=0, unknown_share=0.0):
    return {"day": day, "fired": fired, "fired_left_alone": alone, "unknown_share": unknown_share, "unknown": {}}


def done(**said):
    result = {
        "fired": 3,
        "subjects": 40,
        "unknown_subjects": 0,
        "unknown_share": 0.0,
        "step_seconds": 60,
        "incidents": [incident(BILLING, 600, None), incident(AUDIT, 40_000, 38_000), incident(BILLING, 80_000, 79_000)],
        "left_out": 0,
        "notes": ["What held already counts from there."],
        "unknown": {},
        "by_subject": [{"subject": BILLING, "fired": 2}, {"subject": AUDIT, "fired": 1}],
        "per_day": [a_day("2026-03-13", 2), a_day("2026-03-14", 1)],
        "evaluated": None,
        "fired_left_alone": 0,
        "fired_subjects": 2,
    }
    row = a_preview(rule=RULE, status="done", result=result | said, seconds=4.2, finished_at=NOW)
    RulePreview.objects.filter(pk=row.pk).update(since=ago(86_400), until=NOW)
    return row


def shown(client, row):
    return client.get(f"/alerts/previews/{row.pk}/").content.decode()


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
    assert row.error in shown(operator, row)


@pytest.mark.parametrize(
    ("wrong", "field", "says"),
    [
        ({"threshold": "soon"}, "threshold", "Write a length of time"),
        ({"threshold": ""}, "threshold", "give it a threshold"),
        ({"measure": "unowned_queues", "threshold": "1"}, "measure", "nothing is kept but the newest value"),
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
    [("waiting", "It waits for the Spark worker."), ("running", "The Spark worker looks at the past.")],
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
        ("waiting", 15, "where it judges just now"),
        ("waiting", 14, None),
        ("running", 15, "After 60 s it is ended."),
    ],
)
def test_it_says_how_long_ago_it_was_asked_for(operator, status, age, says):
    row = a_preview(rule=RULE, status=status)
    RulePreview.objects.filter(pk=row.pk).update(created_at=ago(age))
    asked = shown(operator, row).split('id="asked"')[1].split("</p>")[0]
    assert f"{age} s ago" in asked
    assert "where it judges" not in asked if says is None else says in asked


def test_the_page_is_loaded_anew_once_it_is_known(operator):
    part = operator.get(f"/alerts/previews/{done().pk}/part/", headers={"HX-Request": "true"})
    assert part["HX-Refresh"] == "true"


def test_it_says_how_often_and_of_whom(operator):
    said = shown(operator, done())
    assert "It would have fired 3 times in 1 d: 2 × billing, 1 × audit." in said
    picture = said.split("incident-bars")[1].split("</svg>")[0]
    assert picture.count('class="fired"') == 2
    assert picture.count('class="fired open"') == 1
    assert "not by the end of the range" in said
    assert 'aria-label="By day, in UTC: 2026-03-13: 2 firings; 2026-03-14: 1 firing"' in said
    assert "would still at the end" in said
    assert "every 1 min" in said
    assert 'href="/groups/prod/billing/"' in said
    assert "What held already counts from there." in said


def test_what_is_not_known_is_said(operator):
    said = shown(operator, done(fired=0, incidents=[], by_subject=[], unknown_share=0.12, unknown_subjects=3))
    assert "It would not have fired in 1 d, as far as is known." in said
    assert "12 % of what it looks at is not known in that time" in said
    assert "Of 3 of 40 nothing is known at all." in said


@pytest.mark.parametrize(
    ("share", "says"), [(0.0, ""), (None, ""), (0.001, "0.1 % of"), (0.9999, "99.9 % of"), (1.0, "100 % of")]
)
def test_a_share_that_is_not_whole_is_not_called_so(share, says):
    assert unknown_words({"unknown_share": share, "unknown_subjects": 0, "subjects": 4}).startswith(says)


def test_when_it_is_not_known_is_drawn(operator):
    spans = [{"from": ago(70_000).isoformat(), "to": ago(60_000).isoformat()}]
    of_subjects = [{"subject": BILLING, "fired": 2, "unknown_spans": spans}, {"subject": AUDIT, "fired": 1}]
    said = shown(operator, done(by_subject=of_subjects, per_day=[a_day("2026-03-13", 2, 0, 0.25)]))
    assert "billing: not known from 13 Mar 07:33:20 to 13 Mar 10:20:00 UTC" in said
    assert "2026-03-13: 2 firings, 25 % not known" in said


def test_what_is_of_groups_that_are_left_alone_is_told_apart(operator):
    reason = "paused by configuration: consumeEnable is false"
    alone = [{**one, "left_alone": reason} if one["subject"] == AUDIT else one for one in done().result["incidents"]]
    of_subjects = [{"subject": BILLING, "fired": 2}, {"subject": AUDIT, "fired": 1, "left_alone": reason}]
    said = shown(operator, done(incidents=alone, by_subject=of_subjects, fired_left_alone=1))
    assert f"1 of 3 are of groups that the rule leaves alone today, and tells nobody of: {reason}." in said
    assert said.count('<rect class="fired apart"') == 1


def test_windows_wider_than_a_minute_are_said_beside_the_number(operator):
    assert "Looked at once in 10 min: what lasted for less may be missing." in shown(operator, done(step_seconds=600))
    assert "Looked at once" not in shown(operator, done())


def evaluated(**said):
    over = {"fired_at": ago(79_900).isoformat(), "to": ago(79_100).isoformat(), "unknown": {}}
    found = {"rule": 7, "fired": 3, "fired_before": 0, "only_replayed": 0, "only_evaluated": 0, "elsewhere": 0}
    found |= {"incidents": [{"id": "1", "subject": BILLING, **over}], "left_out": 0, "reasons": []}
    return found | said


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ({}, "fired 3 times in this range. The replay finds the same."),
        ({"fired": 1, "fired_before": 2}, "fired 1 time in this range, and 2 went on from before. The replay"),
        ({"only_evaluated": 1, "elsewhere": 1}, "Of these the replay lacks 2; none of the replay&#x27;s are"),
        ({"only_replayed": 4}, "Of these the replay lacks none; 4 of the replay&#x27;s are"),
    ],
)
def test_what_was_evaluated_then_stands_beside_it(operator, found, says):
    said = shown(operator, done(evaluated=evaluated(**found, reasons=["The rule was changed."])))
    assert says in said
    assert "<li>The rule was changed.</li>" in said
    assert 'href="/alerts/?rule=7"' in said
    assert said.count('<rect class="evaluated"') == 1


def test_one_from_before_more_was_kept_is_shown_still(operator):
    row = done(per_day=[{"day": "2026-03-13", "fired": 3}])
    for name in ("evaluated", "fired_left_alone", "fired_subjects"):
        del row.result[name]
    row.save()
    RulePreview.objects.filter(pk=row.pk).update(since=ago(86_400))
    assert "It would have fired 3 times" in shown(operator, row)


def test_nothing_to_look_at_is_not_calm(operator):
    empty = {"fired": 0, "subjects": 0, "incidents": [], "by_subject": [], "unknown_share": None}
    assert "It selects nothing that there is" in shown(operator, done(**empty))


def test_others_than_those_named_are_counted(operator):
    others = [{"subject": BILLING | {"title": f"g{n}", "group": f"g{n}"}, "fired": 2} for n in range(7)]
    assert "2 × g4 and 4 of others." in shown(operator, done(fired=14, by_subject=others))


def test_states_have_no_worst(operator):
    row = a_preview(rule={**RULE, "measure": "state", "comparison": "in", "threshold": None, "states": ["STOP"]})
    result = done().result | {"incidents": [incident(BILLING, 600, None, None)], "fired": 1}
    RulePreview.objects.filter(pk=row.pk).update(status="done", result=result, seconds=1.0)
    said = shown(operator, row)
    assert "state stopped" in said
    assert ">Worst</th>" not in said


def test_a_failure_is_shown(operator):
    row = a_preview(rule=RULE, status="failed", error="No Spark worker took it up.", finished_at=NOW)
    assert "No Spark worker took it up." in shown(operator, row)


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
