"""GET /api/v1/groups/{cluster}/{group}/retries/"""

import pytest
import time_machine

from consumers.models import Broker, GroupBroker
from tests.browser.fleets import a_fleet, client_id, read_for_an_hour
from tests.retry_rows import a_queue_is_blocked, levels_wait, retries_are_due, retries_work, volumes_flow
from tests.world import NOW, a_broker, a_cluster

pytestmark = pytest.mark.django_db
URL = "/api/v1/groups/prod/billing/retries/"
BROKERS = ("broker-a", "broker-b")


@pytest.fixture
def billing():
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster(read_at=None)
        for name in BROKERS:
            a_broker(cluster, name)
        read_for_an_hour(cluster)
        group = a_fleet(cluster, "billing", "Orders", BROKERS, 8, 3)
        retries_work(group)
        yield group


def said(api, **query):
    answer = api.get(URL, query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_volumes_have_every_window_of_the_range_and_their_sums(billing, api):
    volumes_flow(billing)
    found = said(api)
    assert (found["from"], found["to"], found["step_seconds"]) == ("2026-03-14T02:00:00Z", "2026-03-14T03:00:00Z", 60)
    assert len(found["windows"]) == 60
    assert found["windows"][0] == {
        "from": "2026-03-14T02:00:00Z",
        "to": "2026-03-14T02:01:00Z",
        "into_retry": 30,
        "out_of_retry": 28,
        "into_dlq": 4,
        "consumed": 600,
        "is_open": False,
        "unknown": {},
    }
    sums = {"into_retry": 1800, "out_of_retry": 1680, "into_dlq": 240, "consumed": 36000}
    ends = {"from": "2026-03-14T02:00:00Z", "to": "2026-03-14T02:59:30Z"}
    assert found["totals"] == {**ends, **sums, "at_least": sums, "known_since": {}, "unknown": {}}


def test_an_unknown_window_makes_the_sum_unknown_and_both_say_why(billing, api):
    volumes_flow(billing, unknown=[12])
    found = said(api)
    window = next(window for window in found["windows"] if window["from"] == "2026-03-14T02:48:00Z")
    assert (window["into_dlq"], window["unknown"]["into_dlq"]) == (None, "broker-b was silent")
    assert (found["totals"]["into_dlq"], found["totals"]["at_least"]["into_dlq"]) == (None, 236)
    assert found["totals"]["unknown"]["into_dlq"] == "1 of 60 windows are unknown: broker-b was silent"


def test_what_is_not_known_at_all_has_no_part_that_is(billing, api):
    assert said(api)["totals"]["at_least"] == {}


def test_the_range_is_as_asked_for(billing, api):
    found = said(api, **{"from": "2026-03-14T00:00:00Z", "to": "2026-03-14T02:00:00Z"})
    assert (found["from"], found["to"]) == ("2026-03-14T00:00:00Z", "2026-03-14T02:00:00Z")


def test_the_ladder_says_what_waits_and_what_was_sampled(billing, api):
    levels_wait(billing)
    retries_are_due(billing)
    found = said(api)
    assert [rung["level"] for rung in found["ladder"]] == list(range(1, 19))
    assert found["ladder"][2] == {
        "level": 3,
        "retry": 1,
        "delay_seconds": 10.0,
        "broker_backlog": 86,
        "sampled": {
            "messages": 4,
            "looked_at": 40,
            "of": 86,
            "attempts": {"1": 2, "16": 2},
            "oldest_waiting_at": "2026-03-14T02:58:50Z",
            "next_due_at": "2026-03-14T03:00:03Z",
            "sampled_at": "2026-03-14T02:59:40Z",
        },
        "overdue_seconds": 0.0,
        "unknown": {},
    }
    assert found["waiting"]["oldest_waiting"] == {"level": 1, "at": "2026-03-14T02:58:50Z"}
    assert (found["last_attempts"]["messages"], found["last_attempts"]["max_retries"]) == (36, 3)
    assert found["due"]["lag_messages"] == 14


def test_without_a_level_the_ladder_is_empty_for_a_reason(billing, api):
    Broker.objects.update(delay_levels=None, delays_at=None)
    found = said(api)
    assert found["ladder"] == []
    assert found["unknown"]["ladder"] == "no broker of the cluster has reported its delay levels"
    assert found["ladder_read_at"] is None
    assert "have not been read yet" in found["unknown"]["ladder_read_at"]


def test_a_blocked_queue_names_its_message_and_its_member(billing, api):
    a_queue_is_blocked(billing)
    [blocked] = said(api)["blocked"]
    place = {"topic": "Orders", "broker": "broker-a", "queue_id": 0, "offset": 900}
    assert {name: blocked[name] for name in place} == place
    assert (blocked["kind"], blocked["since"]) == ("orderly suspend", "2026-03-14T02:48:00Z")
    assert (blocked["member"], blocked["message"]["keys"]) == (client_id(0), "order-48211")
    assert blocked["facts"]["failed_per_second"] == 0.9
    assert None not in blocked["facts"].values()


def test_conditions_say_what_does_not_hold_first_with_a_cure(billing, api):
    GroupBroker.objects.filter(broker="broker-b").update(retry_queue_nums=0)
    first, *rest = said(api)["conditions"]
    assert (first["name"], first["ok"], first["severity"]) == ("retries are kept", False, "critical")
    assert first["brokers"] == ["broker-b"]
    assert "updateSubGroup" in first["cure"]
    assert {condition["ok"] for condition in rest} == {True}


def test_a_condition_that_is_not_known_says_why(billing, api):
    GroupBroker.objects.all().delete()
    kept = next(condition for condition in said(api)["conditions"] if condition["name"] == "retries are kept")
    assert kept["ok"] is None
    assert kept["unknown"]["ok"] == "broker-a has not reported its configuration of the group yet"


@pytest.mark.parametrize(
    ("query", "name", "sentence"),
    [
        ({"from": "yesterday"}, "from", "Datetime has wrong format"),
        ({"from": "2026-03-14T03:00:00Z", "to": "2026-03-14T03:00:00Z"}, "from", "The range is empty"),
        (
            {"since": "2026-03-14T03:00:00Z"},
            "since",
            "Unknown parameter. Allowed: fields, format, from, to.",
        ),
    ],
)
def test_it_refuses_what_it_does_not_know(billing, api, query, name, sentence):
    answer = api.get(URL, query)
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert sentence in answer.json()["errors"][name][0]


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("/api/v1/groups/prod/nobody/retries/", "There is no group 'nobody' in cluster 'prod'."),
        ("/api/v1/groups/nowhere/billing/retries/", "There is no cluster 'nowhere'."),
    ],
)
def test_it_says_what_is_missing(billing, api, url, sentence):
    answer = api.get(url)
    assert (answer.status_code, answer.json()["detail"]) == (404, sentence)


def test_it_is_read_only_and_not_for_everybody(billing, api, client):
    assert api.post(URL, {}).status_code == 405
    assert client.get(URL).status_code == 401
