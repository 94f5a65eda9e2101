"""Incidents on time axes: bars of a group's charts, flags of the overview."""

from datetime import timedelta

import pytest
from django.test import Client

from consumers.alerts.queries.incidents import IncidentMark
from consumers.models import ConsumerGroup
from dashboard.pages.alerts.preview_pictures import LANES, bars, incident_words
from dashboard.pages.common.moments import Range
from tests.alert_rows import a_rule, an_evaluation, an_incident
from tests.world import NOW, a_cluster, a_group, ago

HOUR = Range("1h", ago(3600), NOW)


def a_mark(fired: float | None, until: float | None = None, **said: str) -> IncidentMark:
    """Times in seconds before now."""
    words = {"id": "6f1c1b7e-3c55-4b0e-9f62-0c9f5a6f2d11", "cluster": "prod", "group": "billing", "topic": ""}
    words |= {"broker": "", "rule_name": "Far behind", "measure": "time_lag_seconds", "severity": "warning"}
    words |= {"status": "firing", "evidence": "10 min behind"}
    return IncidentMark(
        **(words | said),
        since=ago((fired or 0) + 300),
        fired_at=None if fired is None else ago(fired),
        until=None if until is None else ago(until),
    )


def test_a_bar_goes_from_the_firing_to_the_end_and_leads_to_the_incident() -> None:
    (bar,) = bars([a_mark(600, 300, severity="critical")], HOUR)
    assert (bar.since, bar.until, bar.sign, bar.colour) == (ago(600), ago(300), "▲", "var(--state-stop)")
    assert bar.text == "02:50:00 UTC · critical · Far behind, resolved after 10 min: 10 min behind"
    assert bar.href == "/alerts/incidents/6f1c1b7e-3c55-4b0e-9f62-0c9f5a6f2d11/"


def test_one_that_still_fires_reaches_the_end_of_the_range() -> None:
    (bar,) = bars([a_mark(600)], HOUR)
    assert bar.until == NOW


def test_what_is_pending_is_not_drawn() -> None:
    assert bars([a_mark(None)], HOUR) == []


def test_those_of_one_time_stand_one_under_the_other() -> None:
    drawn = bars([a_mark(900, 100), a_mark(800, 500), a_mark(400)], HOUR)
    assert [bar.lane for bar in drawn] == [0, 1, 1]
    assert max(bar.lane or 0 for bar in bars([a_mark(900)] * 20, HOUR)) == LANES - 1


def test_one_without_evidence_says_no_empty_sentence() -> None:
    assert incident_words(a_mark(600, evidence=""), NOW) == "warning · Far behind, for 15 min"


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        (a_mark(None, evidence=""), "warning · Far behind, pending for 5 min"),
        (a_mark(None, 60, evidence=""), "warning · Far behind, resolved after 4 min without firing"),
    ],
)
def test_one_that_has_not_fired_says_so(mark: IncidentMark, words: str) -> None:
    assert incident_words(mark, NOW) == words


@pytest.fixture
def billing(db: None) -> ConsumerGroup:
    an_evaluation(ago(6))
    return a_group(a_cluster())


def test_what_fired_at_once_is_one_flag(viewer: Client, billing: ConsumerGroup) -> None:
    rule = a_rule()
    for name in ("audit", "pricing"):
        an_incident(rule, a_group(billing.cluster, name))
    an_incident(a_rule("Stalled", severity="critical"), billing)
    page = viewer.get("/").text
    assert "02:55:00 UTC · 2 incidents: warning · Far behind" in page
    assert "02:55:00 UTC · billing · critical · Stalled, for 10 min: 10 min 20 s behind" in page
    assert 'class="state-critical"' in page


def test_one_that_fired_before_the_range_stands_at_its_edge(viewer: Client, billing: ConsumerGroup) -> None:
    an_incident(a_rule(), billing, started_at=NOW - timedelta(days=2), fired_at=NOW - timedelta(days=1))
    assert "13 Mar 03:00:00 UTC · billing · warning · Far behind" in viewer.get("/").text


def test_the_lag_chart_of_its_group_has_it(viewer: Client, billing: ConsumerGroup) -> None:
    incident = an_incident(a_rule(), billing)
    layout = viewer.get("/figures/prod/billing/lag/").json()["layout"]
    link = f'<a href="/alerts/incidents/{incident.pk}/" target="_self" style="color:var(--state-warn)">◆</a>'
    assert link in {sign["text"] for sign in layout["annotations"]}
