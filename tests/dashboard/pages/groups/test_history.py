"""The History tab: what happened to a group, of every kind, as one list."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from consumers.models import ConsumerGroup, EvaluationGap, StateChange
from tests.alert_rows import a_rule, an_evaluation, an_incident
from tests.rebalance_rows import a_rebalance, was_watched
from tests.reset_rows import a_reset
from tests.world import a_broker, a_cluster, a_group, ago

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]
URL = "/groups/prod/billing/history/"


@pytest.fixture
def billing() -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    return a_group(cluster)


@pytest.fixture
def eventful(billing: ConsumerGroup) -> ConsumerGroup:
    StateChange.objects.create(group=billing, at=ago(600), before="OK", after="STOP", rule="no_members", detail={})
    a_rebalance(billing, ago(900))
    a_reset(billing, started_at=ago(280), status="applying")
    an_incident(a_rule("Far behind"), billing, started_at=ago(500), fired_at=ago(480))
    return billing


def lines(client: Client, **query: str) -> list[str]:
    body = client.get(URL, query).text.partition('<ul class="history">')[2].partition("</ul>")[0]
    return [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", line)).strip() for line in body.split("<li>")[1:]]


@pytest.mark.usefixtures("eventful")
def test_everything_that_happened_is_one_list_and_the_newest_is_first(admin_client: Client) -> None:
    found = lines(admin_client)
    times = [line.partition(" ")[0] for line in found]
    assert times == ["02:55:20", "02:51:40", "02:50:00", "02:45:00"]
    assert "reset by" in found[0]
    assert "Far behind" in found[1]
    assert "STOP" in found[2]
    assert "rebalance" in found[3]


@pytest.mark.usefixtures("eventful")
def test_an_incident_has_the_colour_and_the_word_of_its_severity_once(admin_client: Client) -> None:
    page = admin_client.get(URL, {"kind": "incident"}).text
    events = page[page.index('class="history"') : page.index("</main>")]
    assert 'class="state state-warn' in events
    assert events.count("warning") == 1


@pytest.mark.usefixtures("eventful")
@pytest.mark.parametrize(("kind", "word"), [("state", "STOP"), ("incident", "Far behind"), ("reset", "reset by")])
def test_one_kind_alone_is_shown_when_it_is_chosen(admin_client: Client, kind: str, word: str) -> None:
    [line] = lines(admin_client, kind=kind)
    assert word in line


@pytest.mark.usefixtures("eventful")
def test_what_was_before_the_range_is_not_of_it(admin_client: Client) -> None:
    found = lines(admin_client, range="2026-03-14T02:40:00Z..2026-03-14T02:47:00Z")
    assert len(found) == 1
    assert "rebalance" in found[0]


@pytest.mark.usefixtures("billing")
def test_an_unknown_kind_is_refused(admin_client: Client) -> None:
    assert admin_client.get(URL, {"kind": "weather"}).status_code == 400


def test_without_an_event_it_says_so(admin_client: Client, billing: ConsumerGroup) -> None:
    was_watched(billing.cluster, 3600)
    an_evaluation()
    page = admin_client.get(URL).text
    assert "No event in the last 1 h." in page
    assert "there may be more events" not in page


def test_incidents_of_a_time_without_evaluations_are_no_true_number(
    admin_client: Client, eventful: ConsumerGroup
) -> None:
    was_watched(eventful.cluster, 3600)
    an_evaluation()
    EvaluationGap.objects.create(began_at=ago(1200), ended_at=ago(900))
    page = re.sub(r"<[^>]+>", "", admin_client.get(URL).text)
    assert "Incidents ≥ 1" in page
    assert "States 1" in page
    assert "There may have been more incidents: alert rules were not evaluated from 2026-03-14 02:40:00 UTC to" in page


def test_without_an_evaluation_of_rules_no_event_is_known(admin_client: Client, billing: ConsumerGroup) -> None:
    was_watched(billing.cluster, 3600)
    page = admin_client.get(URL).text
    assert "There may have been more incidents: alert rules have not been evaluated yet" in page
    assert "No event is known in the last 1 h." in page


def test_without_an_event_of_a_range_that_was_partly_watched_it_says_that_none_is_known(
    admin_client: Client, billing: ConsumerGroup
) -> None:
    was_watched(billing.cluster, 1800)
    page = admin_client.get(URL).text
    assert "No event is known in the last 1 h." in page
    assert "there may be more events" in page


def test_counts_of_a_range_that_was_partly_watched_are_lower_bounds_but_those_of_resets(
    admin_client: Client, eventful: ConsumerGroup
) -> None:
    was_watched(eventful.cluster, 1800)
    page = admin_client.get(URL).text
    assert "Rebalances ≥ 1</a>" in page
    assert "Resets 1</a>" in page


def many_rebalances(group: ConsumerGroup) -> None:
    for number in range(200):
        a_rebalance(group, ago(3000 - number))


def many_resets(group: ConsumerGroup) -> None:
    for number in range(200):
        a_reset(group, started_at=ago(3000 - number), status="applying")


def many_incidents(group: ConsumerGroup) -> None:
    rule = a_rule("Far behind")
    for number in range(200):
        an_incident(rule, group, started_at=ago(3000 - number), resolved_at=ago(2000 - number))


@pytest.mark.parametrize(
    ("happened", "label"),
    [(many_rebalances, "Rebalances"), (many_resets, "Resets"), (many_incidents, "Incidents")],
)
def test_where_older_events_are_left_out_it_says_of_which_kind(
    admin_client: Client, billing: ConsumerGroup, happened: Callable[[ConsumerGroup], None], label: str
) -> None:
    happened(billing)
    assert f"Only the newest are listed of: {label}." in re.sub(r"\s+", " ", admin_client.get(URL).text)
