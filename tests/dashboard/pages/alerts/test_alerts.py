"""The list of incidents: what fires, what is pending, what is over, and how fresh all of that is."""

from datetime import datetime

import pytest
from django.test import Client

from consumers.models import ConsumerGroup, EvaluationGap
from tests.alert_pages import shown
from tests.alert_rows import a_rule, a_silence, an_evaluation, an_incident
from tests.world import a_cluster, a_group, ago

OVER = {"status": "resolved", "resolved_at": ago(60), "ending": "recovered"}


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    an_evaluation(ago(6))
    return a_group(a_cluster())


def titles(client: Client, query: str = "") -> list[str]:
    return [row.rule_name for row, _href in client.get(f"/alerts/{query}").context["firing"]]


def test_an_incident_is_a_sentence_with_all_that_is_said_of_its_group(viewer: Client, billing: ConsumerGroup) -> None:
    silence = a_silence()
    said = {"owner": "payments", "runbook_url": "https://wiki.example.org/billing", "silence": silence}
    said |= {"acknowledged_at": ago(60), "acknowledged_by_name": "eve", "acknowledgement": "on it"}
    an_incident(a_rule(), billing, **said)
    page = viewer.get("/alerts/")
    read = shown(page)
    assert "warning prod/billing Far behind: 10 min 20 s behind 10 min, since 02:50:00 UTC" in read
    assert "acknowledged by eve, 1 min ago: on it" in read
    assert "silenced until 04:00:00 UTC" in read
    assert "owner payments" in read
    assert 'href="https://wiki.example.org/billing"' in page.text


def test_the_worst_is_first_and_what_nobody_has_seen_before_the_acknowledged(
    viewer: Client, billing: ConsumerGroup
) -> None:
    an_incident(a_rule("info", severity="info"), billing, started_at=ago(10))
    an_incident(a_rule("seen", severity="critical"), billing, acknowledged_at=ago(5), started_at=ago(20))
    an_incident(a_rule("older", severity="critical"), billing, started_at=ago(900))
    an_incident(a_rule("newer", severity="critical"), billing, started_at=ago(30))
    assert titles(viewer) == ["newer", "older", "seen", "info"]


def test_what_is_unknown_is_said_with_its_reason(viewer: Client, billing: ConsumerGroup) -> None:
    an_incident(a_rule(), billing, unknown_since=ago(120), unknown_reason="broker-a is silent")
    assert "unknown since 02:58:00 UTC: broker-a is silent" in shown(viewer.get("/alerts/"))


@pytest.mark.parametrize(
    ("clearing", "said"),
    [
        (None, "37 groups are unknown"),
        (ago(120), "condition passes since 02:58:00 UTC 37 groups were unknown"),
    ],
)
def test_what_it_left_unknown_is_past_once_it_does_not_hold(
    viewer: Client, billing: ConsumerGroup, clearing: datetime | None, said: str
) -> None:
    an_incident(a_rule(), billing, groups_count=37, clearing_since=clearing)
    assert said in shown(viewer.get("/alerts/"))


def test_pending_ones_are_folded(viewer: Client, billing: ConsumerGroup) -> None:
    an_incident(a_rule(), billing, status="pending", fired_at=None)
    page = viewer.get("/alerts/")
    assert '<details id="pending"><summary>1 pending: the condition has not been met for long enough' in page.text


@pytest.mark.parametrize(("query", "found"), [("", 1), ("?range=15m", 1), ("?group=audit", 0), ("?group=billing", 1),
                                              ("?severity=critical", 0), ("?rule=99", 0)])  # fmt: skip
def test_past_ones_are_filtered(viewer: Client, billing: ConsumerGroup, query: str, found: int) -> None:
    an_incident(a_rule(), billing, **OVER)
    assert viewer.get(f"/alerts/{query}").context["count_of_all"] == found


def test_one_that_ended_before_the_range_is_a_longer_look_back_away(viewer: Client, billing: ConsumerGroup) -> None:
    an_incident(a_rule(), billing, **OVER | {"resolved_at": ago(7200)})
    page = viewer.get("/alerts/")
    assert "No incident ended in the last 1 h." in shown(page)
    assert 'href="?range=1y"' in page.text
    assert viewer.get("/alerts/?range=7d").context["count_of_all"] == 1


def test_a_cluster_has_its_own(viewer: Client, billing: ConsumerGroup) -> None:
    an_incident(a_rule(), billing)
    a_cluster("east")
    assert titles(viewer, "?cluster=east") == []
    assert titles(viewer, "?cluster=prod") == ["Far behind"]


@pytest.mark.parametrize("query", ["?severity=awful", "?rule=x", "?rule=²", "?page=0", "?range=2y"])
def test_a_filter_that_is_none_is_refused(viewer: Client, query: str) -> None:
    assert viewer.get(f"/alerts/{query}").status_code == 400


def test_calm_is_said_only_where_rules_were_evaluated(viewer: Client, billing: ConsumerGroup) -> None:
    assert "Nothing fires." in shown(viewer.get("/alerts/"))
    an_evaluation(ago(2760))
    late = shown(viewer.get("/alerts/"))
    assert "Unknown whether anything fires" in late
    assert "Nothing fires." not in late


def test_a_late_evaluation_leaves_what_fired_in_sight(viewer: Client, billing: ConsumerGroup) -> None:
    an_incident(a_rule(), billing)
    an_evaluation(ago(2760))
    read = shown(viewer.get("/alerts/"))
    assert "unknown whether they still do" in read
    assert "prod/billing" in read


def test_every_page_counts_what_fires(viewer: Client, billing: ConsumerGroup) -> None:
    an_incident(a_rule(), billing)
    assert "Alerts 1 firing" in shown(viewer.get("/clusters/"))
    assert 'id="firing" hx-swap-oob="true"' in viewer.get("/parts/clusters/").text


def test_the_count_is_not_known_where_the_evaluation_is_late(viewer: Client, billing: ConsumerGroup) -> None:
    assert "Alerts none firing" in shown(viewer.get("/"))
    an_evaluation(ago(2760))
    assert "Alerts not evaluated since 02:14:00" in shown(viewer.get("/"))
    an_evaluation(None)  # type: ignore[arg-type]
    assert "Alerts not evaluated yet" in shown(viewer.get("/"))


def test_why_the_newest_evaluation_failed_is_said(viewer: Client, billing: ConsumerGroup) -> None:
    an_evaluation(ago(10), error="the database is locked", error_at=ago(5))
    assert "the newest evaluation of alert rules failed: the database is locked" in shown(viewer.get("/alerts/"))


def test_more_incidents_cost_no_more_queries(
    viewer: Client, billing: ConsumerGroup, django_assert_max_num_queries: object
) -> None:
    for number in range(30):
        an_incident(a_rule(f"rule {number}"), billing, silence=a_silence())
    # Three of them ask why nothing is evaluated in this world.
    with django_assert_max_num_queries(23):  # type: ignore[operator]
        viewer.get("/alerts/")


def test_a_range_whose_incidents_were_deleted_does_not_say_that_none_ended(
    viewer: Client, billing: ConsumerGroup
) -> None:
    text = shown(viewer.get("/alerts/?range=1y"))
    assert "There may have been more: resolved incidents are retained for 90 days" in text
    assert "No incident is known that ended in the last 1 y." in text


def test_a_gap_and_an_evaluation_that_is_late_are_both_said(viewer: Client, billing: ConsumerGroup) -> None:
    an_evaluation(ago(2760))
    EvaluationGap.objects.create(began_at=ago(3300), ended_at=ago(3000))
    text = shown(viewer.get("/alerts/"))
    assert "There may have been more: alert rules were not evaluated from 2026-03-14 02:05:00 UTC to" in text
    assert "; alert rules have not been evaluated for too long" in text
