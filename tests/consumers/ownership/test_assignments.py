"""Who owns which queue, and who owned it then: only what answers on both sides prove."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consumers.models import Broker, Client, ClientSubscription, ConsumerGroup, Reading
from consumers.ownership.assignments import assignments
from consumers.queries.groups import find_group
from tests.ownership_rows import a_member, it_held, it_subscribed, readings_every
from tests.world import NOW, a_broker, a_cluster, a_dead_broker, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group():
    """Two members that answered for an hour, and a queue."""
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    readings_every(cluster, 15, since=3605)
    group = a_group(cluster, membership_at=ago(5))
    for client_id in ("a", "b"):
        a_member(group, client_id, since=3605)
        it_subscribed(group, client_id, since=3605)
    a_snapshot(group, queue_of(group), 60, 100)
    return group


def queue_of(group, queue_id=0, topic="Orders", **fields):
    return a_queue(group.cluster, topic, queue_id, **fields)


def told(at=None, **filters):
    return assignments(find_group("prod", "billing"), now=NOW, at=at, **filters)


def owners(at=None):
    return [row.owner for row in told(at)]


def why(at=None):
    [row] = told(at)
    assert (row.owner, row.seen_since, row.last_seen, row.gone_by) == (None, None, None, None)
    assert row.unknown["owner"] == row.unknown["seen_since"] == row.unknown["gone_by"]
    return row.unknown["owner"]


def test_the_newest_has_its_owner_with_the_bounds_of_what_was_seen(group):
    it_held(group, queue_of(group), "a", since=900, until=20)
    [row] = told()
    assert (row.topic, row.broker, row.queue_id, row.owner) == ("Orders", "broker-a", 0, "a")
    assert (row.seen_since, row.last_seen, row.gone_by) == (ago(900), ago(20), None)
    assert row.unknown["gone_by"] == "owned when the member last answered"


def test_a_queue_with_two_owners_has_a_row_for_each(group):
    it_held(group, queue_of(group), "b", since=900)
    it_held(group, queue_of(group), "a", since=900)
    assert owners() == owners(ago(100)) == ["a", "b"]


def test_rows_stand_in_order_of_topic_broker_queue_and_owner(group):
    for topic, queue_id in (("Orders", 10), ("Orders", 9), ("Bills", 3)):
        a_snapshot(group, queue_of(group, queue_id, topic), 1, 1)
    places = [(row.topic, row.queue_id) for row in told()]
    assert places == [("Bills", 3), ("Orders", 0), ("Orders", 9), ("Orders", 10)]
    assert [row.topic for row in told(topic="Bills")] == ["Bills"]


def test_a_queue_that_nobody_holds_says_so(group):
    assert why() == "no member owns it"
    Client.objects.filter(client_id="b").update(running_info_error="timed out")
    assert why() == "no member that answered owns it"
    Client.objects.update(running_info_at=None)
    assert why() == "not sampled"
    Client.objects.update(gone_by=ago(60))
    ConsumerGroup.objects.update(online=False)
    assert why() == "the group has no member"


def test_members_that_pop_own_nothing(group):
    ConsumerGroup.objects.update(consume_type="CONSUME_POP")
    assert why() == why(ago(60)) == "members pop messages: no queue has an owner"


def test_one_that_has_not_reported_for_long_is_not_said_to_own_it_still(group):
    it_held(group, queue_of(group), "a", since=900, until=300)
    assert why() == "a has not reported its queues since 2026-03-14 02:55:00 UTC"


def test_the_last_known_owner_is_not_the_owner_while_no_broker_is_read(group):
    it_held(group, queue_of(group), "a", since=900, until=300)
    Broker.objects.all().delete()
    a_dead_broker(group.cluster, "broker-a")
    assert why() == "broker-a could not be read: connection refused; a owned it at 2026-03-14 02:55:00 UTC"


def test_a_past_owner_is_certain_between_two_of_its_answers(group):
    it_held(group, queue_of(group), "a", since=3605, until=1805, gone_by=1790)
    it_held(group, queue_of(group), "b", since=1790)
    [then], [later] = told(ago(2000)), told(ago(1000))
    assert (then.owner, then.last_seen, then.gone_by) == ("a", ago(1805), ago(1790))
    assert (later.owner, later.seen_since) == ("b", ago(1790))


def test_between_two_answers_it_says_from_whom_to_whom_a_queue_went(group):
    it_held(group, queue_of(group), "a", since=3605, until=1805, gone_by=1790)
    it_held(group, queue_of(group), "b", since=1790)
    assert why(ago(1800)) == "reassigned between 2026-03-14 02:29:55 UTC and 2026-03-14 02:30:10 UTC: a, then b"


def test_between_two_answers_it_says_who_let_go_where_nobody_followed(group):
    it_held(group, queue_of(group), "a", since=3605, until=1805, gone_by=1790)
    it_held(group, queue_of(group), "b", since=1700)
    assert why(ago(1800)) == "released between 2026-03-14 02:29:55 UTC and 2026-03-14 02:30:10 UTC by a"
    assert why(ago(1750)) == "no member owned it: all had reported their queues"


def test_one_that_started_anew_between_two_answers_let_go_and_took_it_again(group):
    it_held(group, queue_of(group), "a", since=3605, until=1805, gone_by=1790)
    it_held(group, queue_of(group), "a", since=1790)
    assert why(ago(1800)) == "released and taken again between 2026-03-14 02:29:55 UTC and 2026-03-14 02:30:10 UTC by a"


def test_one_that_was_silent_for_long_is_not_said_to_have_let_go(group):
    it_held(group, queue_of(group), "a", since=3605, until=1805, gone_by=1205)
    it_held(group, queue_of(group), "a", since=1205)
    assert why(ago(1800)) == "a did not report its queues between 2026-03-14 02:29:55 UTC and 2026-03-14 02:39:55 UTC"


def test_at_the_very_answers_the_owners_are_certain(group):
    it_held(group, queue_of(group), "a", since=3605, until=1805, gone_by=1790)
    it_held(group, queue_of(group), "b", since=1790)
    assert (owners(ago(1805)), owners(ago(1790))) == (["a"], ["b"])


def test_two_that_one_reading_names_are_no_owners_of_that_moment(group):
    it_held(group, queue_of(group), "a", since=3605, until=1805, gone_by=1790)
    it_held(group, queue_of(group), "b", since=1805)
    assert why(ago(1805)) == "reported at once by a, b: one had just taken it over"


def test_while_nothing_was_read_nobody_is_said_to_have_owned_it(group):
    it_held(group, queue_of(group), "a", since=3605)
    Reading.objects.filter(taken_at__gt=ago(2005), taken_at__lt=ago(995)).delete()
    assert why(ago(1500)) == "no poll between 2026-03-14 02:26:25 UTC and 2026-03-14 02:43:25 UTC"
    assert (owners(ago(2100)), owners(ago(900))) == (["a"], ["a"])


def test_after_polling_stopped_nobody_is_said_to_own_it(group):
    it_held(group, queue_of(group), "a", since=3605, until=1205)
    Reading.objects.filter(taken_at__gt=ago(1205)).delete()
    assert why(ago(600)) == "no poll after 2026-03-14 02:39:55 UTC"


def test_before_anything_was_recorded_nobody_is_said_to_have_owned_it(group):
    assert why(ago(86400)).startswith("no poll and no 10 min window is retained from before 2026-03-14 01:59:55 UTC")
    Client.objects.update(seen_since=ago(600))
    ClientSubscription.objects.update(seen_since=ago(600))
    assert why(ago(900)) == "no member of the group had been seen yet"


def test_a_member_that_had_not_answered_yet_may_have_held_it(group):
    a_member(group, "c", since=600)
    it_subscribed(group, "c", since=500)
    assert why(ago(550)) == "c was listed and had not reported its queues"
    assert why(ago(450)) == "no member owned it: all had reported their queues"


def test_a_group_that_had_no_member_says_so(group):
    for rows in (Client, ClientSubscription):
        rows.objects.update(last_seen=ago(1805), gone_by=ago(1790))
    assert why(ago(1000)) == "the group had no member"


def test_its_own_dead_letters_are_left_out_and_retries_are_not(group):
    for topic, kind in (("%DLQ%billing", "dlq"), ("%RETRY%billing", "retry")):
        a_snapshot(group, queue_of(group, 0, topic, kind=kind), 1, 1)
    assert [row.topic for row in told()] == ["%RETRY%billing", "Orders"]


@pytest.mark.parametrize("at", [None, ago(600)])
def test_it_asks_the_database_as_often_for_many_queues_and_members_as_for_one(group, at):
    it_held(group, queue_of(group), "a", since=905)
    with CaptureQueriesContext(connection) as few:
        assert len(told(at)) == 1
    for number in range(40):
        client_id = f"c{number % 8}"
        it_held(group, queue_of(group, number + 1), client_id, since=900 - number)
        if number < 8:
            a_member(group, client_id, since=3605)
            it_subscribed(group, client_id, since=3605)
    with CaptureQueriesContext(connection) as many:
        assert len(told(at)) == 41
    assert len(many) == len(few)
