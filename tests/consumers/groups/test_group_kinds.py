"""Kinds of groups on the way to the pages: flags with their reasons, lists of their own, retired topics apart."""

from datetime import timedelta

import pytest

from consumers.groups.detail import group_detail, queue_list
from consumers.groups.listing import group_counts, group_list
from consumers.groups.overlay import Overlay
from consumers.groups.rows import GroupFilters, ListKind
from consumers.models import State, TopicKind
from consumers.overview.queries import overview
from tests.world import (
    NOW,
    a_broker,
    a_client,
    a_cluster,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db
DAY = 86400
GHOST = {"online": False, "members": 0, "offline_since": ago(9 * DAY), "first_seen_at": ago(10 * DAY)}
RETIRED = {"unsubscribed": {"Old": ago(700).isoformat()}}


@pytest.fixture
def cluster():
    cluster = a_cluster()
    a_broker(cluster)
    return cluster


def a_whole_group(cluster, name, lag=0, state="OK", **fields):
    group = a_group(cluster, name, **fields)
    a_snapshot(group, a_queue(cluster, f"{name}-topic"), 100, 100 + lag)
    a_total(group, lag, expired_messages=0)
    a_judged_group(group, state)
    return group


@pytest.fixture
def three(cluster):
    a_whole_group(cluster, "billing", 3)
    a_whole_group(cluster, "forgotten", 5000, "STOP", **GHOST)
    a_whole_group(cluster, "CID_RMQ_SYS_TRANS", 70, kind="system")


def names(**filters):
    return [row.group for row in group_list(GroupFilters(**filters), now=NOW).rows]


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ListKind.USER, ["billing"]),
        (ListKind.GHOST, ["forgotten"]),
        (ListKind.SYSTEM, ["CID_RMQ_SYS_TRANS"]),
        (None, ["CID_RMQ_SYS_TRANS", "billing", "forgotten"]),
    ],
)
def test_each_kind_has_a_list_of_its_own(kind, expected):
    assert sorted(names(kind=kind)) == expected


@pytest.mark.usefixtures("three")
def test_kinds_are_counted_whatever_is_listed():
    counts = {ListKind.USER: 1, ListKind.SYSTEM: 1, ListKind.GHOST: 1}
    assert group_counts(Overlay.at(NOW), GroupFilters(kind=ListKind.GHOST, state=State.LOSS)).kinds == counts


@pytest.mark.usefixtures("three")
def test_ghosts_and_system_groups_need_no_attention_and_are_in_no_sum():
    seen = overview(since=ago(3600), until=NOW, now=NOW)
    assert (seen.groups, seen.lag_messages, seen.worst, seen.counts[State.STOP]) == (1, 3, [], 0)
    assert group_counts(Overlay.at(NOW), GroupFilters()).states[State.STOP] == 0


def test_a_row_says_why_each_flag_holds(cluster):
    a_whole_group(cluster, "billing", consume_enable=False, message_model="BROADCASTING")
    [row] = group_list(GroupFilters(), now=NOW).rows
    assert row.flags == ("paused", "broadcasting")
    assert row.flag_reasons["paused"] == "consumeEnable is false: brokers refuse its pulls"


def test_what_is_undecided_is_said(cluster):
    a_whole_group(cluster, "billing")
    [row] = group_list(GroupFilters(), now=NOW).rows
    assert row.flags == ()
    assert row.unknown["flags"] == (
        "POP: no member has reported how it consumes; offline by habit: membership was not watched for 7 days"
    )


def test_members_say_whether_it_pops(cluster):
    group = a_whole_group(cluster, "billing")
    a_client(group, pop_queues=[{"wait_ack_count": 3}])
    [row] = group_list(GroupFilters(), now=NOW).rows
    assert row.flags == ("pop",)


@pytest.fixture
def retired(cluster):
    group = a_whole_group(cluster, "billing", 3, **RETIRED)
    for number in (0, 1):
        queue = a_queue(cluster, "Old", number)
        a_snapshot(group, queue, 0, 5000)
        a_judged_queue(group, queue, "STALL")
    return group


@pytest.mark.usefixtures("retired")
def test_queues_of_a_retired_topic_have_no_state_and_the_reason():
    rows = queue_list("prod", "billing", topic="Old", now=NOW)
    assert [(row.state, row.rule, row.lag_messages) for row in rows] == [(None, None, 5000)] * 2
    since = (NOW - timedelta(seconds=700)).strftime("%Y-%m-%d %H:%M:%S UTC")
    assert rows[0].unknown["state"] == rows[0].state_detail == f"retired: no member has subscribed to Old since {since}"


@pytest.mark.usefixtures("retired")
def test_a_detail_lists_retired_topics_with_since():
    detail = group_detail("prod", "billing", now=NOW)
    assert {row.topic: row.retired_since for row in detail.topics} == {"Old": ago(700), "billing-topic": None}
    assert detail.flag_reasons == {"retired_topics": "no member subscribes to Old"}


def test_a_topic_is_judged_again_when_nobody_is_online_to_subscribe(retired):
    retired.online = False
    retired.save()
    rows = queue_list("prod", "billing", topic="Old", kind=TopicKind.NORMAL, now=NOW)
    assert [row.state for row in rows] == [State.STALL, State.STALL]


@pytest.mark.parametrize(("expired", "reason"), [(12, None), (None, "the min offset of a queue with lag was not read")])
def test_expired_messages_are_a_number_or_have_a_reason(cluster, expired, reason):
    group = a_whole_group(cluster, "billing", 3)
    group.total.expired_messages = expired
    group.total.save()
    [row] = group_list(GroupFilters(), now=NOW).rows
    assert (row.expired_messages, row.unknown.get("expired_messages")) == (expired, reason)


def test_queues_of_a_group_that_keeps_its_progress_elsewhere_have_no_lag(cluster):
    group = a_whole_group(cluster, "billing", outside_store="com.acme.RedisOffsetStore")
    [row] = queue_list("prod", group.name, now=NOW)
    reason = "com.acme.RedisOffsetStore stores its offsets, not the brokers"
    numbers = (row.lag_messages, row.time_lag_seconds, row.in_flight, row.ready, row.expired_messages)
    assert numbers == (None,) * 5
    assert (row.unknown_reason, row.unknown["time_lag_seconds"], row.unknown["expired_messages"]) == (reason,) * 3
    assert row.consumer_offset == 100
