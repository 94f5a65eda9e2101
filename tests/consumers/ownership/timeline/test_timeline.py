"""The picture of who owned what: whatever was not proven then is unknown, with the reason."""

import pytest

from consumers.models import Client, ClientSubscription, ConsumerGroup, GroupWindow, Queue, Reading
from consumers.ownership.timeline import timeline
from tests.ownership_rows import a_member, it_held, it_subscribed, readings_every
from tests.world import NOW, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group():
    """Two members listed and asked for an hour, readings all along, and a queue."""
    cluster = a_cluster(read_at=None)
    readings_every(cluster, 15, since=3620)
    group = a_group(cluster, membership_at=ago(5))
    for client_id in ("a", "b"):
        a_member(group, client_id, since=3620)
        it_subscribed(group, client_id, since=3620)
    a_snapshot(group, a_queue(cluster), 60, 100)
    return group


def queue_of(group, queue_id=0):
    return a_queue(group.cluster, queue_id=queue_id)


def picture(**range_):
    return timeline("prod", "billing", **({"since": ago(3600), "until": NOW} | range_))


def told(**range_):
    """[(minutes, holding, owners)] of the first queue, a minute a cell."""
    found = picture(cells=60, **range_)
    return [
        (run.cells, run.holding.value, "".join(found.owners[place] for place in run.owners))
        for run in found.queues[0].runs
    ]


def test_a_queue_changes_hands_and_then_has_no_owner(group):
    it_held(group, queue_of(group), "a", since=3700, until=1815, gone_by=1800)
    it_held(group, queue_of(group), "b", since=1800, until=615, gone_by=600)
    assert told() == [
        (29, "owner", "a"),
        (1, "changed", "ab"),
        (19, "owner", "b"),
        (1, "changed", "b"),
        (10, "nobody", ""),
    ]


def test_a_member_that_had_not_said_what_it_holds_may_have_held_it(group):
    it_held(group, queue_of(group), "a", since=3700, until=1815, gone_by=1800)
    a_member(group, "c", since=1200)
    it_subscribed(group, "c", since=600)
    assert told()[-3:] == [(10, "nobody", ""), (10, "unknown", ""), (10, "nobody", "")]
    assert picture(cells=60).queues[0].runs[-2].reason == "c was listed and had not reported its queues"


def test_why_a_present_member_says_nothing_stands_in_the_reason(group):
    Client.objects.filter(client_id="b").update(running_info_error="timed out after 3 s")
    ClientSubscription.objects.filter(client_id="b").delete()
    [run] = picture().queues[0].runs
    assert (run.holding.value, run.reason) == (
        "unknown",
        "b was listed and had not reported its queues: timed out after 3 s",
    )


def test_a_queue_of_a_group_without_a_member_has_no_owner(group):
    Client.objects.update(gone_by=ago(1800))
    ClientSubscription.objects.update(last_seen=ago(1815), gone_by=ago(1800))
    it_held(group, queue_of(group), "a", since=3700, until=1815, gone_by=1800)
    assert told()[-1] == (30, "nobody", "")


def test_nothing_is_told_of_the_time_before_the_first_member_was_seen(group):
    Client.objects.update(seen_since=ago(1800))
    ClientSubscription.objects.update(seen_since=ago(1800))
    assert told() == [(30, "unknown", ""), (30, "nobody", "")]


def test_nothing_is_told_after_the_last_whole_answer_about_members(group):
    ConsumerGroup.objects.update(membership_at=ago(720))
    assert told() == [(50, "nobody", ""), (10, "unknown", "")]
    assert (
        picture().queues[0].runs[-1].reason
        == "not every broker has reported the group's members since 2026-03-14 02:48:00 UTC"
    )


def test_an_interval_claims_nothing_of_the_time_in_which_nothing_was_read(group):
    it_held(group, queue_of(group), "a", since=3700)
    Reading.objects.filter(taken_at__gt=ago(1805), taken_at__lt=ago(1195)).delete()
    assert told() == [(29, "owner", "a"), (12, "unknown", ""), (19, "owner", "a")]
    assert (
        picture(cells=60).queues[0].runs[1].reason
        == "no poll between 2026-03-14 02:29:55 UTC and 2026-03-14 02:40:10 UTC"
    )


def test_readings_that_read_nothing_are_none(group):
    it_held(group, queue_of(group), "a", since=3700)
    failed = Reading.objects.filter(taken_at__gt=ago(1805), taken_at__lt=ago(1195))
    failed.update(complete=False, queues=3)
    assert told() == [(60, "owner", "a")]
    failed.update(complete=False, queues=0)
    assert told() == [(29, "owner", "a"), (12, "unknown", ""), (19, "owner", "a")]


def test_a_missed_reading_or_two_make_no_hole(group):
    it_held(group, queue_of(group), "a", since=3700)
    Reading.objects.filter(taken_at__gt=ago(1805), taken_at__lt=ago(1715)).delete()
    assert told() == [(60, "owner", "a")]


def test_while_brokers_tell_of_no_change_an_owner_that_was_not_asked_again_is_not_doubted(group):
    it_held(group, queue_of(group), "a", since=3700, until=605)
    assert told()[-1] == (9, "unknown", "")
    ConsumerGroup.objects.update(members_changed_at=ago(700))
    assert told() == [(60, "owner", "a")]
    Client.objects.filter(client_id="a").update(running_info_error="timed out after 3 s")
    assert told()[-1] == (9, "unknown", "")


def test_a_change_after_its_last_answer_leaves_an_owner_in_doubt(group):
    it_held(group, queue_of(group), "a", since=3700, until=605)
    ConsumerGroup.objects.update(members_changed_at=ago(600))
    assert told()[-1] == (9, "unknown", "")


def test_since_polling_stopped_nothing_is_known(group):
    it_held(group, queue_of(group), "a", since=3700, until=605)
    Reading.objects.filter(taken_at__gt=ago(606)).delete()
    assert told() == [(49, "owner", "a"), (11, "unknown", "")]


def test_before_the_readings_that_are_kept_windows_tell_that_there_were_some(group):
    it_held(group, queue_of(group), "a", since=90000)
    ConsumerGroup.objects.update(first_seen_at=ago(90000))
    for start in (7200, 6600, 5400, 4800, 4200):
        GroupWindow.objects.create(group=group, step_seconds=600, start=ago(start), readings=40)
    found = told(since=ago(7200), until=ago(3600))
    assert found == [(20, "owner", "a"), (10, "unknown", ""), (30, "owner", "a")]


def test_a_topic_that_no_member_subscribed_to_needs_no_owner(group):
    ClientSubscription.objects.update(seen_since=ago(1200))
    for client_id in ("a", "b"):
        it_subscribed(group, client_id, since=3620, until=1215, gone_by=1200, topic="Other")
    found = told(topic="Orders")
    assert found[0][1:] == ("unknown", "")
    assert found[-1] == (20, "nobody", "")
    assert picture(topic="Orders").queues[0].runs[0].reason == "no member subscribed to Orders"


def test_a_queue_is_not_without_an_owner_before_it_was_seen(group):
    Queue.objects.update(first_seen_at=ago(1200))
    assert told() == [(40, "unknown", ""), (20, "nobody", "")]


def test_a_queue_that_gives_no_messages_needs_no_owner(group):
    it_held(group, queue_of(group), "a", since=3700, until=1815, gone_by=1800)
    Queue.objects.update(readable=False, readable_since=ago(1800))
    assert told()[-1] == (30, "unknown", "")


def test_a_queue_that_gives_no_messages_and_was_never_held_is_left_out(group):
    Queue.objects.filter(pk=queue_of(group, 1).pk).update(readable=False)
    assert [queue.queue_id for queue in picture().queues] == [0]
    it_held(group, queue_of(group, 1), "a", since=3700, until=1815, gone_by=1800)
    assert [queue.queue_id for queue in picture().queues] == [0, 1]


def test_queues_of_retries_and_dead_letters_are_left_out(group):
    for topic, kind in (("%RETRY%billing", "retry"), ("%DLQ%billing", "dlq")):
        it_held(group, a_queue(group.cluster, topic, kind=kind), "a", since=3700)
        a_snapshot(group, a_queue(group.cluster, topic, kind=kind), 1, 1)
    assert [queue.topic for queue in picture().queues] == ["Orders"]


def test_a_subscribed_topic_without_any_offset_is_there(group):
    ConsumerGroup.objects.update(subscriptions=[{"topic": "New", "expression": "*", "expression_type": "TAG"}])
    a_queue(group.cluster, "New", 3)
    assert [(queue.topic, queue.queue_id) for queue in picture().queues] == [("New", 3), ("Orders", 0)]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"message_model": "BROADCASTING"}, "broadcasting: every member owns every queue"),
        ({"consume_type": "CONSUME_POP"}, "members pop messages: no queue has an owner"),
    ],
)
def test_queues_that_are_not_shared_out_make_no_picture(group, fields, reason):
    ConsumerGroup.objects.update(**fields)
    assert (picture().queues, picture().unknown_reason) == ([], reason)


def test_a_queue_that_pulling_members_do_not_name_is_not_unowned(group):
    ConsumerGroup.objects.update(consume_type="CONSUME_ACTIVELY")
    assert told() == [(60, "unknown", "")]


def test_owners_are_listed_once_in_order_and_queues_point_to_them(group):
    a_snapshot(group, queue_of(group, 1), 60, 100)
    it_held(group, queue_of(group), "b", since=3700)
    it_held(group, queue_of(group, 1), "a", since=3700)
    found = picture()
    assert (found.owners, [queue.runs[0].owners for queue in found.queues]) == (["a", "b"], [(1,), (0,)])


def test_it_asks_the_database_as_often_for_many_queues_as_for_one(group, django_assert_num_queries):
    for number in range(1, 30):
        a_snapshot(group, queue_of(group, number), 60, 100)
        it_held(group, queue_of(group, number), "a" if number % 2 else "b", since=3700 + number)
    with django_assert_num_queries(13):
        assert len(picture().queues) == 30


def test_there_is_no_picture_of_a_group_that_there_is_not(db):
    assert timeline("prod", "absent", since=ago(60), until=NOW) is None
