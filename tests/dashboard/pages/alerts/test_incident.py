"""One incident: what was found, what was done about it, who was told; and what can be done."""

import re
from datetime import timedelta
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from consumers.models import ConsumerGroup, GroupWindow, Incident, PipelineRun, SubjectKind
from tests.alert_pages import shown
from tests.alert_rows import (
    a_channel,
    a_delivery,
    a_rule,
    a_silence,
    an_attempt,
    an_evaluation,
    an_incident,
    an_incident_event,
)
from tests.world import a_cluster, a_group, ago


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    an_evaluation(ago(6))
    return a_group(a_cluster())


@pytest.fixture
def incident(billing: ConsumerGroup) -> Incident:
    said = {"owner": "payments", "note": "Restart one member at a time.", "labels": {"team": "payments"}}
    return an_incident(a_rule(), billing, **said)


def at(incident: Incident, act: str = "") -> str:
    return f"/alerts/incidents/{incident.pk}/{act}"


def test_it_says_what_was_found_and_who_looks_after_it(viewer: Client, incident: Incident) -> None:
    read = shown(viewer.get(at(incident)))
    assert "Far behind: prod/billing" in read
    assert "firing warning 10 min 20 s behind since 02:50:00 UTC (10 min)" in read
    assert "Worst11 min" in read
    assert "Ownerpayments" in read
    assert "team=payments" in read
    assert "Restart one member at a time." in read


def test_one_that_is_over_says_how_it_ended(viewer: Client, billing: ConsumerGroup) -> None:
    over = an_incident(a_rule(), billing, status="resolved", resolved_at=ago(60), ending="gone")
    page = viewer.get(at(over))
    assert "lasted 9 min: subject no longer exists" in shown(page)
    assert "data-live" not in page.text.partition("<main")[2]
    assert "<form" not in page.text.partition("<main")[2]


def test_what_is_unknown_keeps_it_open_and_says_so(viewer: Client, incident: Incident) -> None:
    Incident.objects.update(unknown_since=ago(120), unknown_reason="broker-a is silent.")
    read = shown(viewer.get(at(incident)))
    assert (
        "unknown since 02:58:00 UTC: broker-a is silent. The incident stays open: unknown data resolves nothing."
        in read
    )


def test_whether_it_holds_is_not_known_where_the_evaluation_is_late(viewer: Client, incident: Incident) -> None:
    an_evaluation(ago(2760))
    assert "Unknown whether it still fires: alert rules have not been" in shown(viewer.get(at(incident)))


def test_it_lists_what_happened_and_who_was_told_with_tries(viewer: Client, incident: Incident) -> None:
    fired = an_incident_event(incident)
    an_incident_event(incident, "acknowledged", sentence="Acknowledged: on it", by_name="eve")
    delivery = a_delivery(a_channel(), fired, status="failed", error="410 Gone")
    an_attempt(delivery, ok=False, answer="410 Gone")
    an_attempt(delivery, ok=None, seconds=None, answer="")
    read = shown(viewer.get(at(incident)))
    assert "02:55:00 UTCfired10 min 20 s behind, for 5 min" in read
    assert "acknowledgedAcknowledged: on itby eve" in read
    assert "on call 1 not delivered 410 Gone" in read
    assert "1. 02:55:01 UTC · failed · 0.2 s · 410 Gone" in read
    assert "result unknown: the message may have arrived" in read


def test_a_broker_counts_and_names_the_groups_that_it_leaves_unknown(viewer: Client, billing: ConsumerGroup) -> None:
    names = {"subject_kind": SubjectKind.BROKER, "subject_key": "broker:prod/broker-a", "broker_name": "broker-a"}
    names |= {"group_name": "", "group": None, "groups_count": 37, "group_names": [["prod", "billing"]]}
    incident = an_incident(a_rule(measure="broker_unread_seconds"), billing)
    Incident.objects.update(**names)
    page = viewer.get(at(incident))
    assert "37 groups are unknown: billing and others" in shown(page)
    assert 'href="/groups/prod/billing/"' in page.text
    assert "data-figure" not in page.text
    Incident.objects.update(status="resolved", resolved_at=ago(60), ending="recovered")
    assert "37 groups were unknown: billing and others" in shown(viewer.get(at(incident)))


def test_its_figure_holds_it_as_a_bar(viewer: Client, incident: Incident) -> None:
    figure = viewer.get(f"/figures/incidents/{incident.pk}/").json()
    assert figure["layout"]["xaxis"]["range"] == ["2026-03-14 02:30:00", "2026-03-14 03:00:00"]
    (bar,) = [shape for shape in figure["layout"]["shapes"] if shape["fillcolor"] == "var(--state-warn)"]
    assert (bar["x0"], bar["x1"]) == ("2026-03-14 02:55:00", "2026-03-14 03:00:00")


def test_a_long_one_is_drawn_in_longer_windows(viewer: Client, billing: ConsumerGroup) -> None:
    long = an_incident(a_rule(), billing, started_at=ago(2 * 86400), fired_at=ago(86400))
    figure = viewer.get(f"/figures/incidents/{long.pk}/").json()
    assert figure["layout"]["xaxis"]["range"][0] == "2026-03-12 00:00:00"


def test_an_operator_acknowledges_it_with_a_word(operator: Client, incident: Incident) -> None:
    answer = operator.post(at(incident, "acknowledge/"), {"text": " on it "})
    assert (answer.status_code, answer["Location"]) == (302, at(incident))
    incident.refresh_from_db()
    assert (incident.acknowledged_by_name, incident.acknowledgement) == ("operator", "on it")
    page = operator.get(at(incident))
    assert "Withdraw acknowledgement" in page.text
    operator.post(at(incident, "acknowledge/"), {"take_back": "1"})
    incident.refresh_from_db()
    assert incident.acknowledged_at is None


def test_an_acknowledgement_that_the_page_showed_is_replaced_whatever_clock_it_showed_it_by(
    operator: Client, incident: Incident
) -> None:
    Incident.objects.update(acknowledged_at=ago(60), acknowledged_by_name="eve", acknowledgement="looking")
    operator.cookies["utc_offset"] = "480"
    seen = re.search(r'name="seen" value="([^"]+)"', operator.get(at(incident)).text)
    assert seen is not None
    operator.post(at(incident, "acknowledge/"), {"text": "mine", "seen": unescape(seen[1])})
    incident.refresh_from_db()
    assert (incident.acknowledged_by_name, incident.acknowledgement) == ("operator", "mine")


def test_what_cannot_be_acknowledged_says_why_and_keeps_what_was_typed(
    operator: Client, billing: ConsumerGroup
) -> None:
    over = an_incident(a_rule(), billing, status="resolved", resolved_at=ago(60), ending="recovered")
    answer = operator.post(at(over, "acknowledge/"), {"text": "on it"})
    assert answer.status_code == 409
    assert "this one is resolved" in shown(answer)
    assert 'role="alert"' in answer.text


def test_words_that_are_too_long_are_said_at_their_field(operator: Client, incident: Incident) -> None:
    answer = operator.post(at(incident, "acknowledge/"), {"text": "x" * 2001})
    assert answer.status_code == 400
    assert '<a href="#field-text">' in answer.text
    assert 'aria-invalid="true"' in answer.text


def test_somebody_else_may_take_over_and_nobody_from_themselves(operator: Client, incident: Incident) -> None:
    Incident.objects.update(acknowledged_at=ago(60), acknowledged_by_name="eve")
    assert "Take over" in operator.get(at(incident)).text
    operator.post(at(incident, "acknowledge/"), {"text": "mine"})
    incident.refresh_from_db()
    assert (incident.acknowledged_by_name, incident.acknowledgement) == ("operator", "mine")
    assert "Take over" not in operator.get(at(incident)).text


def test_its_silence_is_filled_in(operator: Client, incident: Incident) -> None:
    page = operator.get(at(incident)).text
    wanted = {"cluster": "prod", "group_pattern": "billing", "rule": str(incident.rule_id)}
    for name, value in wanted.items():
        assert f'<input type="hidden" name="{name}" value="{value}">' in page
    assert f"/alerts/silences/?cluster=prod&amp;group_pattern=billing&amp;rule={incident.rule_id}" in page


def test_one_without_its_rule_is_not_silenced_for_all_rules(operator: Client, incident: Incident) -> None:
    Incident.objects.update(rule=None)
    page = operator.get(at(incident))
    assert "Its rule was deleted: the incident resolves at the next evaluation." in shown(page)
    assert 'action="/alerts/silences/"' not in page.text


def test_a_viewer_is_told_who_may_act(viewer: Client, incident: Incident) -> None:
    page = viewer.get(at(incident))
    assert "You need the role operator or admin" in shown(page)
    assert "<form" not in page.text.partition("<main")[2]
    assert viewer.post(at(incident, "acknowledge/"), {"text": "on it"}).status_code == 403


@pytest.mark.parametrize("act", ["", "part/"])
def test_one_that_there_is_not_is_not_found(viewer: Client, billing: ConsumerGroup, act: str) -> None:
    assert viewer.get(f"/alerts/incidents/{uuid4()}/{act}").status_code == 404


def test_a_silenced_one_says_until_when(viewer: Client, billing: ConsumerGroup) -> None:
    silenced = an_incident(a_rule(), billing, silence=a_silence())
    read = shown(viewer.get(at(silenced)))
    assert "Silenced until04:00:00 UTC" in read
    assert "None: the incident is silenced." in read


def test_a_group_that_is_gone_leaves_its_name(viewer: Client, incident: Incident) -> None:
    ConsumerGroup.objects.all().delete()
    page = viewer.get(at(incident))
    assert "prod/billing" in shown(page)
    assert "data-figure" not in page.text
    assert viewer.get(f"/figures/incidents/{incident.pk}/").status_code == 404


def test_the_group_and_the_overview_say_what_fires(viewer: Client, incident: Incident) -> None:
    for path in ("/groups/prod/billing/", "/"):
        page = viewer.get(path)
        assert "Far behind: 10 min 20 s behind" in shown(page)
        assert f'href="{at(incident)}"' in page.text


def test_the_overview_does_not_call_it_calm_where_nothing_was_evaluated(viewer: Client, billing: Any) -> None:
    assert "firing-now" not in viewer.get("/").text
    an_evaluation(ago(2760))
    assert "unknown what fires now" in shown(viewer.get("/"))


@pytest.mark.parametrize(("days", "step"), [(20, 600), (100, 3600), (800, 86400)])
def test_one_of_long_ago_is_drawn_in_the_finest_windows_that_are_kept(
    viewer: Client, billing: ConsumerGroup, days: int, step: int
) -> None:
    begun = ago(days * 86400).replace(hour=0)
    old = an_incident(a_rule(), billing, status="resolved", started_at=begun, resolved_at=begun + timedelta(hours=1))
    GroupWindow.objects.create(group=billing, step_seconds=step, start=begun, lag_messages=7, readings=4)
    PipelineRun.objects.create(since=ago(90), until=ago(0), started_at=ago(60), finished_at=ago(50))
    drawn = viewer.get(f"/figures/incidents/{old.pk}/").json()
    assert [value for trace in drawn["data"] if trace["name"] == "all topics" for value in trace["y"] if value] == [7]
