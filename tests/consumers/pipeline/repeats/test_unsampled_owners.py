"""Repeats of members that were lost, and never told what they held."""

import pytest

from consumers.models import ConsumerGroup, RepeatEvent
from tests.consumers.pipeline.repeats.runs import A, a_crash, evaluate
from tests.rebalance_rows import a_moved_topic, a_rebalance
from tests.world import ago

pytestmark = pytest.mark.django_db


def a_loss_of_one_that_never_reported(group, cause="gone", reason="owners_before_not_sampled", **fields):
    """A was gone, and had never told what it held; nor is it known what its queues were."""
    entry = {"cause": cause, "client_id": A, "address": "10.0.0.7:1"}
    unknown = dict.fromkeys(("queues_moved", "replayed_messages", "replayed_messages_low"), reason)
    row = a_rebalance(group, cause=cause, evidence=[entry], **fields)
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
