"""Lists of rebalances: filtered and paged on the server, with the sums of their topics."""

from datetime import UTC, datetime, timedelta

import pytest

from consumers.models import Assignment, Queue
from consumers.rebalances.detail import rebalance_detail
from consumers.rebalances.events import cause_counts, moment_of, moment_text, newest_rebalances, rebalance_list
from consumers.rebalances.rows import RebalanceFilters
from consumers.vocabulary.reasons import RebalanceCause, RebalanceReason
from tests.rebalance_rows import a_move, a_moved_topic, a_rebalance
from tests.world import a_cluster, a_group, a_queue, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def billing():
    return a_group(a_cluster())


def groups(**filters) -> list[str]:
    return [row.group for row in rebalance_list(RebalanceFilters(**filters)).rows]


def test_a_row_sums_its_topics(billing):
    row = a_rebalance(billing)
    a_moved_topic(row, "Orders")
    a_moved_topic(row, "Stock", queues_moved=4, unowned_queue_seconds=45.0, replayed_messages=100)

    [event] = rebalance_list(RebalanceFilters()).rows

    assert (event.cost.queues_moved, event.cost.unowned_queue_seconds, event.cost.replayed_messages) == (5, 60.0, 111)
    assert (event.members_before, event.members_after, event.settled_seconds) == (2, 3, 30.0)
    assert event.event == "prod/billing/2026-03-14T02:50:00.000000Z"
    assert event.sentence == "10.0.0.9@3312 joined from 10.0.0.9:41022 between 02:49:45 and 02:50:00 UTC"


def test_one_unknown_topic_makes_the_sum_unknown_with_its_reason(billing):
    row = a_rebalance(billing)
    a_moved_topic(row, "Orders")
    reason = "the owners before it were not sampled"
    a_moved_topic(row, "Stock", queues_moved=None, unknown={"queues_moved": RebalanceReason.OWNERS_BEFORE})

    [event] = rebalance_list(RebalanceFilters()).rows

    assert event.cost.queues_moved is None
    assert event.cost.unknown == {"queues_moved": f"Stock: {reason}"}


def test_without_a_topic_nothing_is_zero(billing):
    a_rebalance(billing)
    [event] = rebalance_list(RebalanceFilters()).rows
    assert event.cost.queues_moved is event.cost.replayed_messages is None
    assert event.cost.unknown["queues_moved"] == "no topic of the group was known then"


def test_what_is_not_known_of_a_rebalance_has_its_reason(billing):
    a_rebalance(billing, started_after=None, settled_at=None, members_before=None)
    [event] = rebalance_list(RebalanceFilters()).rows
    assert event.unknown == {
        "started_after": "no poll before it is known",
        "settled_at": "no two consecutive polls have agreed since",
        "dated_at": "no member's clock dates it between the two polls",
        "members_before": "the polls around it do not contain the answer",
    }
    assert (event.settled, event.settled_seconds) == (False, None)


def test_it_filters_and_has_the_newest_first(billing):
    there = a_group(a_cluster("second"), "audit")
    a_rebalance(billing, ago(900))
    a_rebalance(there, ago(300), cause="gone, joined")
    a_rebalance(a_group(billing.cluster, "stock"), ago(600), cause="queue_count")

    assert groups() == ["audit", "stock", "billing"]
    assert groups(cluster="prod") == ["stock", "billing"]
    assert groups(group="audit") == ["audit"]
    assert groups(cause=RebalanceCause.JOINED) == ["audit", "billing"]
    assert groups(since=ago(600), until=ago(300)) == ["stock"]
    assert cause_counts(RebalanceFilters(cause=RebalanceCause.GONE)) == {
        RebalanceCause.JOINED: 2,
        RebalanceCause.GONE: 1,
        RebalanceCause.QUEUE_COUNT: 1,
    }


def test_one_that_still_went_on_touches_the_range(billing):
    a_rebalance(billing, ago(900), last_change_at=ago(550))
    assert groups(since=ago(600)) == []
    assert groups(since=ago(600), touching=True) == ["billing"]
    assert groups(since=ago(500), touching=True) == []


def test_rocketmqs_own_groups_are_listed_where_they_are_named(billing):
    a_rebalance(a_group(billing.cluster, "CID_RMQ_SYS_TRANS", kind="system"))
    assert groups() == []
    assert groups(group="CID_RMQ_SYS_TRANS") == ["CID_RMQ_SYS_TRANS"]


def test_a_page_beyond_the_last_is_the_last(billing):
    for number in range(3):
        a_rebalance(billing, ago(600 + number))
    page = rebalance_list(RebalanceFilters(), page=9, page_size=2)
    assert (page.count, page.page, page.pages, len(page.rows)) == (3, 2, 2, 1)


def test_an_episode_counts_all_its_rebalances(billing):
    for seconds in (600, 560, 520):
        a_rebalance(billing, ago(seconds), episode_since=ago(600))
    a_rebalance(billing, ago(100))
    assert [event.episode for event in rebalance_list(RebalanceFilters()).rows] == [1, 3, 3, 3]


def test_a_page_asks_as_often_for_fifty_as_for_one(billing, django_assert_max_num_queries):
    for number in range(50):
        a_moved_topic(a_rebalance(billing, ago(600 + number)))
    with django_assert_max_num_queries(6):
        assert len(rebalance_list(RebalanceFilters()).rows) == 50


def test_the_newest_of_a_group_are_its_own(billing):
    a_rebalance(a_group(billing.cluster, "stock"))
    for number in range(7):
        a_rebalance(billing, ago(600 + number))
    found = newest_rebalances("prod", "billing")
    assert [event.started_before for event in found] == [ago(600 + number) for number in range(5)]


def test_a_detail_has_its_topics_with_the_queues_that_moved(billing):
    row = a_rebalance(billing)
    lost = a_move(3, replayed_messages=None, unknown={"replayed_messages": "its old owner never said"})
    a_moved_topic(row, "Stock", moves=[lost, a_move(1)])
    a_moved_topic(row, "Orders", moves=[])

    found = rebalance_detail("prod", "billing", "2026-03-14T02:50:00.000000Z")

    assert [topic.topic for topic in found.topics] == ["Orders", "Stock"]
    [first, second] = found.topics[1].moves
    assert (first.queue_id, first.before, first.after) == (1, ("10.0.0.7@3312",), ("10.0.0.9@3312",))
    assert second.unknown == {"replayed_messages": "its old owner never said"}
    assert found.evidence[0].log.text == "new consumer connected, group: billing "


def test_what_did_not_move_is_told_with_who_held_it_then(billing):
    queues = [a_queue(billing.cluster, "Orders", number) for number in range(5)]
    hold = {"group": billing, "last_seen": ago(400)}
    Assignment.objects.create(queue=queues[1], client_id="a@1", seen_since=ago(9000), **hold)
    Assignment.objects.create(queue=queues[2], client_id="b@1", seen_since=ago(9000), gone_by=ago(390), **hold)
    Assignment.objects.create(queue=queues[3], client_id="c@1", seen_since=ago(500), **hold)
    Queue.objects.filter(pk=queues[4].pk).update(first_seen_at=ago(100))
    a_moved_topic(a_rebalance(billing), "Orders", moves=[a_move(0)])

    [topic] = rebalance_detail("prod", "billing", moment_text(ago(600))).topics

    assert [(one.queue_id, one.owners) for one in topic.stayed] == [(1, ("a@1",)), (2, ("b@1",)), (3, None)]


def test_a_detail_names_the_others_of_its_episode(billing):
    for seconds in (600, 560):
        a_rebalance(billing, ago(seconds), episode_since=ago(600))
    found = rebalance_detail("prod", "billing", moment_text(ago(600)))
    assert [other.at for other in found.others_of_episode] == [moment_text(ago(560))]


@pytest.mark.parametrize(
    "at", ["2026-03-14T02:50:01.000000Z", "2026-03-14", "yesterday", "2026-13-14T02:50:01.000000Z"]
)
def test_there_is_no_rebalance_of_another_name(billing, at):
    a_rebalance(billing)
    assert rebalance_detail("prod", "billing", at) is None


def test_a_name_keeps_its_microseconds():
    at = datetime(2026, 3, 14, 2, 14, 24, 123456, tzinfo=UTC)
    assert moment_of(moment_text(at)) == at
    assert moment_of(moment_text(at - timedelta(microseconds=1))) != at
