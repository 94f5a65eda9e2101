"""The members of a group: what is known of each, and how much it consumes."""

from datetime import timedelta

import pyarrow as pa
import pytest
from django.conf import settings as site
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consumers.lake.schemas import WINDOWS
from consumers.lake.store import Lake
from consumers.lake.windows import put_window
from consumers.models import Broker, Client, ConsumerGroup, QueueSnapshot
from consumers.ownership.members import member_list, members_unknown
from consumers.ownership.rows import QueuePlace, QueueShare
from consumers.queries.groups import find_group
from tests.ownership_rows import a_member, it_held
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group(tmp_path, settings):
    """Of `a` and `b`, which hold queues 0 and 1, and 2: three messages a second, none, and one."""
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    for client_id in ("a", "b"):
        a_member(group, client_id, since=3600, orderly=False, strategy="AllocateMessageQueueAveragely")
    for queue_id, owner in enumerate("aab"):
        a_snapshot(group, a_queue(cluster, queue_id=queue_id), 10 if queue_id != 1 else 0, 10 if queue_id != 1 else 0)
        it_held(group, a_queue(cluster, queue_id=queue_id), owner, since=3600)
    start = NOW - timedelta(minutes=1)
    shared = {"cluster": "prod", "start": start, "step_seconds": 60, "group": "billing", "topic": "Orders"}
    shared |= {"broker": "broker-a", "kind": "normal", "readings": 4}
    rows = [shared | {"queue_id": queue_id, "consume_rate": rate} for queue_id, rate in enumerate((3.0, 0.0, 1.0))]
    put_window(Lake.at(str(tmp_path)), "windows_60", "prod", start, pa.Table.from_pylist(rows, WINDOWS))
    return group


def members():
    return member_list(find_group("prod", "billing"), now=NOW)


def the_member(client_id="a"):
    [found] = [member for member in members() if member.client_id == client_id]
    return found


def change(client_id="a", **fields):
    Client.objects.filter(client_id=client_id).update(**fields)


def test_a_member_consumes_what_its_queues_give(group):
    assert [(member.client_id, member.queues, member.messages_per_second) for member in members()] == [
        ("a", 2, 3.0),
        ("b", 1, 1.0),
    ]


def test_its_share_and_its_busiest_queue_are_of_the_whole_group(group):
    assert [member.share for member in members()] == [0.75, 0.25]
    assert the_member().busiest_queue == QueueShare("Orders", "broker-a", 0, 3.0, 0.75)


def test_a_queue_into_which_nothing_was_ever_written_is_named(group):
    assert [member.never_written for member in members()] == [[QueuePlace("Orders", "broker-a", 1)], []]


@pytest.mark.parametrize(
    ("lose", "reason"),
    [
        (lambda: QueueSnapshot.objects.update(broker_offset=None), "the broker offset was not read"),
        (lambda: QueueSnapshot.objects.all().delete(), "the broker offset was not read"),
        (
            lambda: Broker.objects.update(last_read_at=ago(50)),
            "broker-a has not been read for more than 45 s",
        ),
        (lambda: Broker.objects.all().delete(), "broker-a is not listed in the cluster"),
    ],
)
def test_whether_a_queue_was_ever_written_is_not_known_without_its_broker(group, lose, reason):
    lose()
    assert (the_member().never_written, the_member().unknown["never_written"]) == (None, reason)


def test_a_member_without_a_queue_consumes_nothing(group):
    a_member(group, "c", since=3600)
    idle = the_member("c")
    assert (idle.queues, idle.messages_per_second, idle.share, idle.never_written) == (0, 0.0, 0.0, [])
    assert (idle.busiest_queue, idle.unknown["busiest_queue"]) == (None, "the member owns no queue")


def test_a_member_that_did_not_answer_says_nothing_of_itself(group):
    change(running_info_error="timed out after 3 s")
    silent = the_member()
    names = ("queues", "messages_per_second", "share", "busiest_queue", "never_written")
    assert [getattr(silent, name) for name in names] == [None] * 5
    assert {silent.unknown[name] for name in names} == {"timed out after 3 s"}


def test_a_member_that_was_not_asked_says_nothing_of_itself(group):
    change(running_info_at=None, strategy=None, orderly=None)
    assert {the_member().unknown[name] for name in ("queues", "strategy", "orderly")} == {"not sampled"}


def test_one_queue_without_a_rate_makes_the_rate_and_all_shares_unknown(group):
    it_held(group, a_queue(group.cluster, queue_id=7), "a", since=60)
    reason = "Orders/broker-a/7: no window yet"
    assert {the_member().unknown[name] for name in ("messages_per_second", "share", "busiest_queue")} == {reason}
    assert the_member("b").messages_per_second == 1.0


def test_nothing_consumed_at_all_is_shared_by_nobody(group):
    put = {"cluster": "prod", "start": NOW - timedelta(minutes=1), "step_seconds": 60, "group": "billing"}
    rows = [
        put | {"topic": "Orders", "broker": "broker-a", "queue_id": q, "kind": "normal", "consume_rate": 0.0}
        for q in range(3)
    ]
    put_window(
        Lake.at(site.CONSUMERSCOPE_LAKE), "windows_60", "prod", put["start"], pa.Table.from_pylist(rows, WINDOWS)
    )
    quiet = the_member()
    assert (quiet.messages_per_second, quiet.share, quiet.busiest_queue) == (0.0, None, None)
    assert quiet.unknown["share"] == "the group consumed nothing"
    assert quiet.unknown["busiest_queue"] == "nothing was consumed from the member's queues"


def test_members_that_pop_share_the_queues_and_none_has_a_rate_of_its_own(group):
    ConsumerGroup.objects.update(consume_type="CONSUME_POP")
    a_member(group, "c", since=3600)
    popping = the_member("c")
    assert (popping.queues, popping.messages_per_second) == (0, None)
    assert popping.unknown["messages_per_second"] == "members pop messages: no queue has an owner"


def test_what_a_client_says_of_its_kind_comes_before_what_a_broker_says_of_the_group(group):
    change(settings={"messageModel": "BROADCASTING", "PROP_CONSUME_TYPE": "CONSUME_ACTIVELY"})
    assert [(member.message_model, member.consume_type) for member in members()] == [
        ("BROADCASTING", "CONSUME_ACTIVELY"),
        ("CLUSTERING", "CONSUME_PASSIVELY"),
    ]


def test_two_processes_with_one_id_are_told_with_their_addresses(group):
    change(connections={"broker-a": ["10.0.0.7:1", "10.0.0.8:2"]}, duplicated_since=ago(60), listed_since=ago(600))
    double = the_member()
    assert double.connections == {"broker-a": ["10.0.0.7:1", "10.0.0.8:2"]}
    assert (double.duplicated_since, double.listed_since) == (ago(60), ago(600))
    assert the_member("b").unknown["duplicated_since"] == "no broker lists two connections under this client id"


def test_a_member_that_is_gone_is_not_listed(group):
    change(gone_by=ago(30))
    assert [member.client_id for member in members()] == ["b"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, None),
        ({"membership_at": None}, "the group's members have not been asked yet"),
        ({"membership_error": "broker-b: timed out"}, "broker-b: timed out"),
        (
            {"membership_at": ago(901)},
            "not every broker has reported the group's members since 2026-03-14 02:44:59 UTC",
        ),
    ],
)
def test_it_says_why_these_need_not_be_all_members(group, fields, reason):
    ConsumerGroup.objects.update(**fields)
    assert members_unknown(find_group("prod", "billing"), now=NOW) == reason


def test_while_a_broker_is_not_read_members_of_it_may_be_missing(group):
    Broker.objects.update(last_read_at=ago(50))
    reason = members_unknown(find_group("prod", "billing"), now=NOW)
    assert reason == "broker-a has not been read for more than 45 s"


def test_it_asks_the_database_as_often_for_many_members_as_for_one(group):
    with CaptureQueriesContext(connection) as few:
        members()
    for number in range(20):
        a_member(group, f"c{number}", since=3600)
        it_held(group, a_queue(group.cluster, queue_id=10 + number), f"c{number}", since=60)
    with CaptureQueriesContext(connection) as many:
        assert len(members()) == 22
    assert len(many) == len(few)
