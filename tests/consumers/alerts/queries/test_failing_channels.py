"""Channels that do not deliver: who looks at incidents has to see that nobody is told of them."""

from typing import Any

import pytest

from consumers.alerts.queries.deliveries import FailingChannel, channel_deliveries, failing_channels
from consumers.alerts.queries.settings import find_channel
from tests.alert_rows import a_channel, a_delivery, a_rule, an_incident, an_incident_event
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


def fails(failures: int, since: float) -> dict[str, Any]:
    return {"failures": failures, "failing_since": ago(since), "failing_why": "500 busy"}


@pytest.mark.parametrize(
    ("fields", "is_told"),
    [
        (fails(1, 119), False),
        (fails(1, 120), True),
        (fails(3, 1), True),
        (fails(3, 900) | {"enabled": False}, False),
        ({}, False),
    ],
)
def test_a_channel_that_failed_several_times_or_for_minutes_is_told(fields: dict[str, Any], is_told: bool) -> None:
    channel = a_channel(**fields)
    expected = [FailingChannel(channel.pk, "on call", fields["failing_since"], 0, "500 busy")] if is_told else []
    assert failing_channels(NOW) == expected


def test_messages_that_no_worker_takes_up_are_told() -> None:
    channel = a_channel()
    a_delivery(channel, status="sent", created_at=ago(9000))
    a_delivery(channel, status="waiting", created_at=ago(130))
    a_delivery(channel, status="sending", created_at=ago(10))
    [one] = failing_channels(NOW)
    assert (one.since, one.messages, one.why) == (ago(130), 2, None)
    assert "no worker sends" in one.sentence


def test_three_queries_tell_of_all(django_assert_num_queries: Any) -> None:
    for n in range(5):
        a_delivery(a_channel(f"{n}", **fails(3, 60)), status="waiting")
    with django_assert_num_queries(3):
        assert len(failing_channels(NOW)) == 5


def test_a_row_says_since_when_and_why_it_cannot_deliver_and_until_when_it_is_left_alone() -> None:
    row = find_channel(a_channel(**fails(3, 60), held_until=ago(-30)).pk)
    assert row is not None
    assert (row.failing_since, row.failing_why, row.held_until) == (ago(60), "500 busy", ago(-30))
    calm = find_channel(a_channel("calm").pk)
    assert calm is not None
    assert (calm.failing_since, calm.unknown["held_until"]) == (None, "not paused")
    assert "no failure since" in calm.unknown["failing_since"]


def test_a_message_says_which_one_it_waits_for() -> None:
    channel, rule, cluster = a_channel(), a_rule(), a_cluster()
    incident, other = (an_incident(rule, a_group(cluster, name)) for name in ("billing", "orders"))
    waits = {"status": "waiting", "sent_at": None, "attempts": 0, "next_try_at": ago(300)}
    a_delivery(channel, an_incident_event(incident), **waits | {"refusals": 1, "attempts": 1, "next_try_at": ago(-9)})
    a_delivery(channel, an_incident_event(other), **waits)
    a_delivery(channel, an_incident_event(incident, "resolved"), **waits)
    end, stranger, first = channel_deliveries(channel.pk)[0]
    assert (first.waits_for, first.waits_why, first.next_try_at) == (None, "not accepted", ago(-9))
    assert (stranger.waits_for, stranger.waits_why) == (None, "waiting for a worker")
    assert (end.waits_for, end.next_try_at) == (1, None)
    assert end.waits_why == "waiting for message 1 about the same incident, which was not accepted yet"
    assert end.unknown["next_try_at"] == end.waits_why


def test_a_message_of_a_channel_that_is_left_alone_says_until_when_and_why() -> None:
    channel = a_channel(**fails(3, 60), held_until=ago(-30))
    a_delivery(channel, status="waiting", sent_at=None, attempts=0, next_try_at=ago(10))
    [[row], _] = channel_deliveries(channel.pk)
    assert (row.next_try_at, row.waits_why) == (ago(-30), "the channel is paused")


@pytest.mark.parametrize("status", ["sent", "failed", "dropped"])
def test_what_is_not_to_go_waits_for_nothing(status: str) -> None:
    channel = a_channel(**fails(3, 60), held_until=ago(-30))
    a_delivery(channel, status=status, next_try_at=None)
    [[row], _] = channel_deliveries(channel.pk)
    assert (row.next_try_at, row.waits_for, row.waits_why) == (None, None, None)
    assert row.unknown["waits_why"] == "not waiting"
