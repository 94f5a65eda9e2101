"""A lost offset is LOSS as soon as a reading says so, with all that is still known of it."""

import pytest

from consumers.groups.detail import group_queues
from consumers.groups.listing import group_counts, group_list
from consumers.groups.overlay import Overlay
from consumers.groups.rows import GroupFilters
from consumers.models import Broker, QueueSample, QueueSnapshot, State
from consumers.offsets.stores import group_offsets
from consumers.overview.queries import overview
from consumers.vocabulary.states import UnknownReason
from tests.lost_rows import a_losing_group
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_queue,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db
FIRST, LAST = "CONSUME_FROM_FIRST_OFFSET", "CONSUME_FROM_LAST_OFFSET"
LOST_NUMBERS = ("lost_offset", "lost_at", "would_start_at", "would_skip_messages", "would_redeliver_messages")


@pytest.fixture
def cluster():
    cluster = a_cluster()
    a_broker(cluster)
    return cluster


def first_queue(group):
    return group_queues(group, now=NOW)[0]


def shown():
    [row] = group_list(GroupFilters(), now=NOW).rows
    return row


@pytest.mark.parametrize(
    ("where", "start", "effect", "words"),
    [
        (LAST, 12, (5, 0), "a member would start at 12 (last offset: the end of the queue) · skips 5 messages"),
        (FIRST, 3, (0, 4), "would start at 3 (first offset, moved up to the min offset) · redelivers 4 messages"),
        (None, None, (None, None), "the start offset of a member is unknown: no member was present to report"),
    ],
)
def test_a_queue_says_what_was_there_and_where_a_member_would_start(cluster, where, start, effect, words):
    row = first_queue(a_losing_group(cluster, consume_from_where=where))
    assert (row.state, row.rule, row.since, row.lag_messages) == (State.LOSS, "offset lost", ago(30), None)
    assert (row.lost_offset, row.lost_at, row.would_start_at) == (7, ago(30), start)
    assert (row.would_skip_messages, row.would_redeliver_messages) == effect
    assert row.state_detail.startswith("offset lost · last known offset 7 · last read 2026-03-14 02:59:30 UTC · ")
    assert words in row.state_detail
    assert [name for name in LOST_NUMBERS if getattr(row, name) is None and not row.unknown.get(name)] == []


def test_what_the_broker_answered_to_a_starting_member_counts(cluster):
    group = a_losing_group(cluster, consume_from_where=LAST, queues=1)
    QueueSnapshot.objects.update(min_offset=0)
    assert first_queue(group).would_start_at is None
    asked = {"start_offset": 0, "start_rule": "0 while the first message is in the broker's memory"}
    QueueSample.objects.create(group=group, queue=a_queue(cluster, "Ofbilling", 0), asked_at=ago(60), **asked)
    row = first_queue(group)
    assert (row.would_start_at, row.would_redeliver_messages) == (0, 7)
    [offsets] = group_offsets(group, now=NOW).rows
    assert (offsets.would_start_at, offsets.never_committed) == (0, False)


def test_a_queue_with_its_offset_has_lost_nothing(cluster):
    group = a_group(cluster)
    a_snapshot(group, a_queue(cluster), 5, 9)
    row = first_queue(group)
    assert [getattr(row, name) for name in LOST_NUMBERS] == [None] * 5
    assert row.unknown["lost_offset"] == "the queue has no lost offset"


def test_an_acknowledged_loss_is_never_committed_and_says_what_was_lost(cluster):
    group = a_losing_group(cluster, consume_from_where=LAST)
    QueueSnapshot.objects.update(unknown_reason=UnknownReason.NEVER_COMMITTED)
    row = first_queue(group)
    assert (row.state, row.lost_offset, row.would_start_at) == (State.OK, 7, None)
    assert "offset 7 was lost, acknowledged · last read 2026-03-14 02:59:30 UTC" in row.state_detail


def test_a_slave_that_lacks_the_offset_is_named(cluster):
    Broker.objects.update(read_from="10.0.0.9:10911")
    group = a_losing_group(cluster, consume_from_where=LAST)
    said = "slave 10.0.0.9:10911 is read in its master's place"
    assert said in first_queue(group).state_detail
    assert said in shown().state_detail


def test_a_slave_with_an_older_offset_is_named_with_the_last_known_one(cluster):
    Broker.objects.update(read_from="10.0.0.9:10911")
    group = a_group(cluster)
    behind = {"unknown_reason": UnknownReason.SLAVE_BEHIND, "lost_offset": 8, "lost_at": ago(30)}
    a_snapshot(group, a_queue(cluster), None, 10, **behind)
    a_total(group, None, queues=1, unknown_queues=1, unknown_reason=UnknownReason.SLAVE_BEHIND)
    said = "the slave that answered lags behind its master: 10.0.0.9:10911"
    assert shown().unknown_reason == said
    words = " · last known offset 8 · last read 2026-03-14 02:59:30 UTC"
    assert first_queue(group).unknown_reason == said + words


@pytest.mark.parametrize("state", ["OK", "STOP", "UNKNOWN", None], ids=["OK", "STOP", "UNKNOWN", "never judged"])
def test_a_group_is_loss_whatever_was_judged_of_it(cluster, state):
    a_losing_group(cluster, state=state)
    row = shown()
    assert (row.state, row.lost_queues, row.lag_messages, row.since) == (State.LOSS, 2, None, ago(31))
    assert row.state_detail == "offset lost: 2 of 2 queues on broker-a · last read 2026-03-14 02:59:29 UTC"
    assert row.unknown_reason == "the committed offset is gone from the broker: 2 queues"
    assert group_counts(Overlay.at(NOW), GroupFilters()).states[State.LOSS] == 1
    assert group_list(GroupFilters(state=State.LOSS), now=NOW).count == 1


def test_what_a_silent_broker_had_lost_is_not_known_any_more(cluster):
    a_losing_group(cluster)
    Broker.objects.update(last_read_at=ago(600), failing_since=ago(590), error="refused")
    assert (shown().state, shown().lost_queues) == (State.UNKNOWN, None)


def test_a_loss_on_a_broker_that_is_still_read_is_shown_beside_a_silent_one(cluster):
    a_dead_broker(cluster, "broker-b", since=ago(600))
    group = a_losing_group(cluster)
    a_snapshot(group, a_queue(cluster, "Other", broker="broker-b"), 1, 2)
    assert shown().state == State.LOSS


def test_the_overview_has_one_row_for_each_broker(cluster):
    a_broker(cluster, "broker-b")
    for name in ("billing", "shop", "audit"):
        a_losing_group(cluster, name)
    a_losing_group(cluster, "mail", broker="broker-b", queues=1)
    well = a_group(cluster, "well")
    a_judged_group(well)
    found = overview(since=ago(3600), until=NOW, now=NOW)
    said = [(loss.broker, loss.queues, list(loss.groups.values()), loss.lost_at) for loss in found.losses]
    assert said == [("broker-a", 6, ["audit", "billing", "shop"], ago(31)), ("broker-b", 1, ["mail"], ago(30))]
    assert [one.row.group for one in found.worst] == ["audit", "billing", "mail", "shop"]
    assert overview(cluster="other", since=ago(3600), until=NOW, now=NOW).losses == []
