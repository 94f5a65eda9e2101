"""Which groups are looked at, from when on, and what the rows say of them."""

from datetime import timedelta

import pytest

from consumers.models import ClientSubscription
from consumers.pipeline.durations import Durations
from consumers.pipeline.rebalances.run import ChangedGroups
from consumers.vocabulary.times import microseconds
from tests.rebalance_rows import a_rebalance
from tests.world import a_client, a_cluster, a_group, a_queue, a_reading, ago

pytestmark = pytest.mark.django_db

SINCE, UNTIL = ago(60), ago(0)
LOOKBACK = timedelta(seconds=1800)


@pytest.fixture
def cluster():
    return a_cluster(read_at=None)


def looked_at(since=SINCE):
    found = ChangedGroups.of(["prod"], since, UNTIL, Durations())
    return found and {row["group"]: row for row in found.rows.to_pylist()}


def us(seconds_ago):
    return microseconds(ago(seconds_ago))


@pytest.mark.parametrize(
    "fields",
    [{"members_changed_at": ago(70)}, {"sub_version": ago(3600)}, {}],
    ids=["its members changed before", "its members' clocks tell of no change since", "it was never asked"],
)
def test_nothing_is_looked_at_where_no_group_changed(cluster, fields):
    a_group(cluster, **fields)
    assert looked_at() is None


@pytest.mark.parametrize(
    "fields",
    [{"members_changed_at": ago(30)}, {"sub_version": ago(30)}],
    ids=["a reading saw its members change", "a member's own clock tells of a change"],
)
def test_a_group_that_changed_is_looked_at_from_the_beginning_of_the_range(cluster, fields):
    a_group(cluster, "billing", **fields)
    a_group(cluster, "shipping")
    found = looked_at()
    assert list(found) == ["billing"]
    assert (found["billing"]["since_us"], found["billing"]["opened_us"]) == (us(60), None)
    assert found["billing"]["reach_us"] == microseconds(SINCE - LOOKBACK)


def test_a_group_of_another_cluster_is_not_looked_at(cluster):
    a_group(a_cluster("other", read_at=None), members_changed_at=ago(30))
    assert looked_at() is None


@pytest.mark.parametrize(
    ("settled_at", "why"),
    [(None, "it has not settled"), (ago(50), "it settled in the range")],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_rebalance_that_is_not_over_is_taken_up_from_its_beginning(cluster, settled_at, why):
    a_rebalance(a_group(cluster), ago(200), settled_at=settled_at)
    row = looked_at()["billing"]
    assert (row["since_us"], row["opened_us"]) == (us(200), us(200)), why
    assert row["reach_us"] == microseconds(ago(200) - LOOKBACK)


def test_one_that_never_settled_is_given_up_in_the_end(cluster):
    a_rebalance(a_group(cluster), ago(2000), settled_at=None, last_change_at=ago(1900))
    assert looked_at() is None


def test_a_rebalance_that_was_cut_is_taken_up_with_its_other_part(cluster):
    group = a_group(cluster)
    a_rebalance(group, ago(1900), settled_at=None, last_change_at=ago(150))
    a_rebalance(group, ago(100), settled_at=None)
    assert looked_at()["billing"]["opened_us"] == us(1900)


def test_the_stored_rebalance_before_lends_its_episode(cluster):
    group = a_group(cluster, members_changed_at=ago(30))
    a_rebalance(group, ago(300), settled_at=ago(290), started_after=ago(315))
    a_rebalance(group, ago(240), settled_at=ago(230), episode_since=ago(300))
    row = looked_at()["billing"]
    assert (row["episode_end_us"], row["episode_us"], row["episode_after_us"]) == (us(230), us(300), us(315))


def test_members_joined_since_the_stored_episode_began(cluster):
    group = a_group(cluster, members_changed_at=ago(30))
    a_rebalance(group, ago(4000), settled_at=ago(130), last_change_at=ago(150), episode_since=ago(4000))
    a_rebalance(a_group(cluster, "stock", members_changed_at=ago(30)), ago(9000), settled_at=ago(8000))
    for client_id, seconds in (("d", 4001), ("c", 3990), ("b", 70), ("late", -1)):
        a_client(group, client_id, seen_since=ago(seconds), gone_by=ago(20))
    assert looked_at()["billing"]["joined_us"] == [us(3990), us(70)]


def test_a_rebalance_that_began_after_the_range_is_nothing_to_it(cluster):
    group = a_group(cluster, members_changed_at=ago(30))
    a_rebalance(group, ago(30), settled_at=ago(20))
    row = looked_at()["billing"]
    assert (row["since_us"], row["opened_us"], row["episode_us"]) == (us(60), None, None)


def test_members_are_told_by_their_intervals(cluster):
    group = a_group(cluster, members_changed_at=ago(30))
    settings = {"pullThresholdForQueue": "1000", "consumeConcurrentlyMaxSpan": "2000", "pullBatchSize": "32"}
    a_client(group, "a", seen_since=ago(900), started_at=ago(950), duplicated_since=ago(40), settings=settings)
    a_client(group, "b", seen_since=ago(900), gone_by=ago(30), running_info_error="no answer", last_seen=ago(45))
    a_client(group, "c", seen_since=ago(9000), gone_by=ago(8000))
    first, second = looked_at()["billing"]["clients"]
    assert (first["client_id"], first["seen_us"], first["gone_us"]) == ("a", us(900), None)
    assert (first["started_us"], first["doubled_us"]) == (us(950), us(40))
    assert (second["client_id"], second["gone_us"], second["last_seen_us"]) == ("b", us(30), us(45))
    assert second["started_us"] is None
    assert (first["may_hold"], second["may_hold"]) == (2032, None)


def test_queues_are_those_of_topics_that_members_subscribe_to_or_lately_did(cluster):
    group = a_group(cluster, members_changed_at=ago(30), subscriptions=[{"topic": "Orders"}])
    for topic, gone_by in (("Old", ago(100)), ("Older", ago(8000)), ("%RETRY%billing", None)):
        ClientSubscription.objects.create(
            group=group,
            client_id="a",
            topic=topic,
            expression="*",
            seen_since=ago(9000),
            last_seen=ago(9),
            gone_by=gone_by,
        )
    for topic in ("Orders", "Old", "Older", "Others", "%RETRY%billing"):
        a_queue(cluster, topic)
    assert [queue["topic"] for queue in looked_at()["billing"]["queues"]] == ["Old", "Orders"]


def test_a_queue_says_when_it_came_and_whether_it_can_be_read(cluster):
    a_group(cluster, members_changed_at=ago(30), subscriptions=[{"topic": "Orders"}])
    queue = a_queue(cluster)
    queue.first_seen_at, queue.readable, queue.readable_since = ago(200), False, ago(100)
    queue.save()
    (row,) = looked_at()["billing"]["queues"]
    assert (row["first_seen_us"], row["readable"], row["readable_us"]) == (us(200), False, us(100))


def test_a_broker_of_its_topics_that_went_and_came_back_is_told(cluster):
    a_group(cluster, members_changed_at=ago(30), subscriptions=[{"topic": "Orders"}])
    a_queue(cluster)
    for seconds, read in ((55, True), (40, False), (25, False), (10, True)):
        brokers = [{"name": name, "read": read, "error": None} for name in ("broker-a", "broker-b")]
        a_reading(cluster, ago(seconds), brokers=brokers)
    assert looked_at()["billing"]["brokers"] == [
        {"broker": "broker-a", "at_us": us(40), "is_read": False},
        {"broker": "broker-a", "at_us": us(10), "is_read": True},
    ]


@pytest.mark.parametrize(
    ("pop_queues", "shares"),
    [(None, True), ([], True), ([{"topic": "Orders", "wait_ack_count": 0}], False)],
    ids=["not told", "none", "it pops"],
)
def test_a_group_that_pops_shares_out_no_queues(cluster, pop_queues, shares):
    a_client(a_group(cluster, members_changed_at=ago(30)), pop_queues=pop_queues)
    assert looked_at()["billing"]["shares_queues"] is shares
