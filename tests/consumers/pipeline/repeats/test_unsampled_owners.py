"""Repeats of members that were lost, and never told what they held."""

from datetime import timedelta

import pytest

from consumers.models import ConsumerGroup, RepeatEvent
from consumers.pipeline.repeat_rows import FoundSpan, write_repeats
from consumers.pipeline.repeats.parts import RepeatPart
from tests.consumers.pipeline.repeats.runs import A, a_crash, evaluate
from tests.rebalance_rows import a_moved_topic, a_rebalance
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db


def a_loss_of_one_that_never_reported(
    group, cause="gone", reason="owners_before_not_sampled", *, at=600, client_id=A, **fields
):
    """A was gone, and had never told what it held; nor is it known what its queues were."""
    entry = {"cause": cause, "client_id": client_id, "address": "10.0.0.7:1"}
    unknown = dict.fromkeys(("queues_moved", "replayed_messages", "replayed_messages_low"), reason)
    row = a_rebalance(group, ago(at), cause=cause, evidence=[entry], **fields)
    return a_moved_topic(
        row, moves=[], queues_moved=None, replayed_messages=None, replayed_messages_low=None, unknown=unknown
    )


@pytest.mark.parametrize(("cause", "code"), [("gone", "owner_left"), ("silent", "owner_silent")])
def test_a_lost_member_that_never_reported_what_it_held_may_have_repeated_any_number(lake, billing, cause, code):
    a_loss_of_one_that_never_reported(billing, cause)

    assert evaluate(lake, rebalanced=["billing"]) == 1
    event = RepeatEvent.objects.get()
    assert (event.cause, event.confidence, event.redelivered_low, event.redelivered_high) == (
        "consumer_crash",
        "possible",
        None,
        None,
    )
    assert event.unknown == dict.fromkeys(("redelivered_low", "redelivered_high"), "owner_not_sampled")
    assert event.evidence == [{"code": code, "client_id": A}, {"code": "owner_unknown"}]
    [part] = event.parts
    assert (part["topic"], part["broker"], part["queue_id"], part["high"]) == ("Orders", None, None, None)


def test_a_crash_of_one_that_reported_and_one_that_did_not_is_counted_at_least(lake, billing):
    a_crash(billing, at=620)
    a_loss_of_one_that_never_reported(billing)

    assert evaluate(lake, rebalanced=["billing"]) == 1
    event = RepeatEvent.objects.get()
    assert (event.redelivered_low, event.redelivered_high) == (40, None)
    assert event.unknown == {"redelivered_high": "owner_not_sampled"}


@pytest.mark.parametrize(
    ("cause", "reason", "consume_type"),
    [
        ("joined", "owners_before_not_sampled", None),
        ("gone", "own_offsets", None),
        ("gone", "owners_before_not_sampled", "CONSUME_POP"),
    ],
    ids=["nobody left", "own offsets", "pops"],
)
def test_without_a_lost_owner_of_queues_there_is_no_such_repeat(lake, billing, cause, reason, consume_type):
    ConsumerGroup.objects.update(consume_type=consume_type)
    a_loss_of_one_that_never_reported(billing, cause, reason)

    assert evaluate(lake, rebalanced=["billing"]) == 0


@pytest.mark.parametrize(("seconds", "found"), [(20, 0), (600, 1)], ids=["not asked yet", "never answered"])
def test_new_owners_are_unknown_once_they_had_time_to_report(lake, billing, seconds, found):
    fields = {"last_change_at": ago(seconds), "settled_at": None}
    a_loss_of_one_that_never_reported(billing, reason="owners_after_not_sampled", **fields)

    assert evaluate(lake, rebalanced=["billing"]) == found


def a_deploy(group, every):
    """Ten members that never report what they hold are replaced, one after the other."""
    for number in range(10):
        a_loss_of_one_that_never_reported(group, at=2400 - number * every, client_id=f"10.0.0.{number}@1")


@pytest.mark.parametrize("every", [20, 200], ids=["at once", "one after the other"])
def test_a_deploy_of_such_members_is_one_possible_event_with_their_number(lake, billing, every):
    a_deploy(billing, every)

    assert evaluate(lake, rebalanced=["billing"]) == 1
    event = RepeatEvent.objects.get()
    assert (event.confidence, event.redelivered_low, event.redelivered_high) == ("possible", None, None)
    assert event.evidence[0] == {"code": "members_lost", "members": 10}
    assert (event.started_at, event.last_at) == (ago(2400), ago(2400 - 9 * every))


def test_deploys_an_hour_apart_are_two_events(lake, billing):
    a_loss_of_one_that_never_reported(billing, at=5000)
    a_loss_of_one_that_never_reported(billing, at=600)

    assert evaluate(lake, rebalanced=["billing"]) == 2


def test_a_deploy_that_two_runs_see_is_the_same_event(lake, billing):
    a_deploy(billing, 200)
    evaluate(lake, rebalanced=["billing"])
    whole = RepeatEvent.objects.values("started_at", "last_at", "evidence", "parts").get()
    parts = [RepeatPart.of_stored("consumer_crash", part) for part in whole["parts"]]
    RepeatEvent.objects.all().delete()

    for since, until, some in ((7200, 1500, parts[:5]), (1500, 0, parts[5:])):
        span = FoundSpan(billing.pk, ago(since), ago(until) + timedelta(microseconds=1), some)
        assert write_repeats("rebalances", [span], 60, 3600, NOW) == 1

    assert RepeatEvent.objects.values("started_at", "last_at", "evidence", "parts").get() == whole


def test_a_proven_crash_beside_a_deploy_keeps_its_number(lake, billing):
    a_deploy(billing, 200)
    a_crash(billing, at=300)

    assert evaluate(lake, rebalanced=["billing"]) == 2
    crash = RepeatEvent.objects.get(confidence="proven")
    assert (crash.redelivered_low, crash.redelivered_high) == (40, 120)
