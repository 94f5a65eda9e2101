"""Blocked queues out of rows: which are listed, what is said of them and why something is not."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consumers.models import Broker, Cluster, GroupWindow
from consumers.retries.blocked import all_blocked, blocked_queues
from consumers.retries.blocked_rows import BlockedKind
from tests.consumers.retries.held import NOW, a_broker, a_group, configure, hold, look_up
from tests.readings import T0, at

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster():
    row = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    a_broker(row, "broker-a")
    return row


@pytest.fixture
def group(cluster):
    return a_group(cluster, "stock")


def blocked():
    return blocked_queues("prod", "stock", NOW)


def test_a_poison_message_is_told_with_its_key_its_member_and_what_waits_behind_it(group):
    look_up(hold(group))
    (row,) = blocked()
    assert (row.kind, row.offset, row.seconds, row.behind) == (BlockedKind.ORDERLY_SUSPEND, 100, 300, 49)
    assert row.message.keys == "order-7"
    assert row.sentence == (
        "blocked 5 min on Stock/broker-a/3: c1 suspends message 100 (order-7); failures there: 0.9 msg/s"
        " · blocks 49 messages"
    )
    assert row.unknown == {}


@pytest.mark.parametrize(
    "held",
    [
        {"head_since": at(541)},
        {"head_since": None, "cached_min": None},
        {"head_since": at(300), "last_seen": at(300)},
        {"gone_by": at(590)},
        {"consumer_offset": 101},
    ],
    ids=["too young", "holds nothing", "seen once", "gone", "finished since"],
)
def test_what_is_not_known_to_stand_is_not_listed(group, held):
    hold(group, **held)
    assert blocked() == []


def test_the_threshold_is_a_setting(group, settings):
    hold(group, head_since=at(541))
    settings.CONSUMERSCOPE_BLOCKED_AFTER_SECONDS = 50
    assert [row.seconds for row in blocked()] == [59]


def test_a_message_that_was_not_looked_up_says_so(group):
    hold(group)
    (row,) = blocked()
    assert (row.message, row.unknown) == (None, {"message": "the message has not been fetched yet"})


def test_a_message_looked_up_at_another_offset_is_not_this_one(group):
    look_up(hold(group), offset=99)
    assert blocked()[0].message is None


def test_what_the_broker_refused_to_show_says_why(group):
    look_up(hold(group), message_id=None, error="broker-a refused: no permission")
    (row,) = blocked()
    assert (row.message, row.unknown) == (None, {"message": "broker-a refused: no permission"})


def test_an_unread_broker_leaves_what_waits_behind_unknown(group):
    hold(group)
    Broker.objects.update(failing_since=at(500), error="timed out")
    (row,) = blocked()
    assert row.behind is None
    assert row.unknown["behind"] == "broker-a could not be read: timed out"


def test_a_member_that_is_not_heard_leaves_the_kind_unknown(group):
    hold(group, last_seen=at(400))
    (row,) = blocked()
    assert row.kind is BlockedKind.UNKNOWN
    assert "c1 has not reported its queues since" in row.unknown["kind"]
    assert row.sentence.startswith("blocked 5 min on Stock/broker-a/3: c1 has not finished message 100; cause unknown")


def test_failures_that_do_not_come_back_are_tried_locally(group):
    hold(group, orderly=False)
    for start in (360, 420, 480, 540):
        GroupWindow.objects.create(group=group, step_seconds=60, start=at(start), readings=4, into_retry=0, into_dlq=0)
    assert blocked()[0].kind is BlockedKind.LOCAL_RETRY


@pytest.mark.parametrize("column", ["into_retry", "into_dlq"])
def test_failures_that_come_back_are_of_others(group, column):
    hold(group, orderly=False)
    came = {"into_retry": 0, "into_dlq": 0, column: 2}
    GroupWindow.objects.create(group=group, step_seconds=60, start=at(480), readings=4, **came)
    assert blocked()[0].kind is BlockedKind.SLOW_MESSAGE


def test_while_nothing_is_aggregated_the_kind_of_what_fails_is_unknown(group):
    hold(group, orderly=False)
    assert blocked()[0].unknown["kind"] == "messages fail; send-backs are not aggregated yet"


def test_a_closed_broker_is_named_where_sending_back_fails(group):
    hold(group, orderly=False)
    Broker.objects.update(permission=4)
    (row,) = blocked()
    assert row.kind is BlockedKind.LOCAL_RETRY
    assert "Broker-a takes no messages: its brokerPermission is 4, and no other broker accepts" in row.sentence
    assert row.facts["retries_refused"] in row.sentence


def test_one_broker_that_takes_retries_is_enough(group):
    hold(group, orderly=False)
    Broker.objects.update(permission=4)
    a_broker(group.cluster, "broker-b")
    configure(group, "broker-b")
    assert blocked()[0].kind is BlockedKind.UNKNOWN


def test_a_permission_that_was_read_long_ago_refuses_nothing(group):
    hold(group, orderly=False)
    Broker.objects.update(permission=4, config_at=NOW - timedelta(hours=1))
    assert blocked()[0].kind is BlockedKind.UNKNOWN


def test_all_groups_are_listed_the_longest_blocked_first_without_system_groups(cluster, group):
    hold(group)
    hold(a_group(cluster, "email"), head_since=at(200))
    hold(a_group(cluster, "CID_RMQ_SYS_X", kind="system"))
    rows, number = all_blocked("prod", NOW, 20)
    assert ([row.group for row in rows], number) == (["email", "stock"], 2)
    assert all_blocked("other", NOW, 20) == ([], 0)


def test_of_many_the_longest_blocked_are_listed_and_all_are_counted(cluster, group):
    for queue_id in range(60):
        hold(group, queue_id=queue_id)
    rows, number = all_blocked(None, NOW, 20)
    assert (len(rows), number) == (20, 60)


def test_the_number_of_queries_does_not_grow_with_groups(cluster, group):
    hold(group)
    with CaptureQueriesContext(connection) as few:
        assert all_blocked(None, NOW, 20)[1] == 1
    for n in range(10):
        hold(a_group(cluster, f"g{n}"), queue_id=n)
    with CaptureQueriesContext(connection) as many:
        assert len(all_blocked(None, NOW, 20)[0]) == 11
    assert len(many) == len(few)
