"""What is said of a group whose worst queue is blocked: the message, its member, and what waits behind it."""

import pytest

from consumers.groups.listing import shown_groups
from consumers.groups.overlay import Overlay
from consumers.models import Cluster, GroupState, GroupTotal, QueueState, Reading
from tests.consumers.retries.held import NOW, a_broker, a_group, hold, look_up
from tests.readings import T0, at

pytestmark = pytest.mark.django_db

DETAIL = {"still_seconds": 290, "lag_messages": 50, "blocked_by": "message", "client_id": "c1"}


@pytest.fixture
def held():
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    a_broker(cluster, "broker-a")
    Reading.objects.create(
        cluster=cluster, taken_at=at(595), complete=True, brokers=[{}], queues=1, calls=1, bytes=1, seconds=1
    )
    return hold(a_group(cluster, "stock"))


def judged(held, rule="blocked", **detail):
    group, queue = held.group, held.queue
    verdict = {"state": "STALL", "rule": rule, "detail": DETAIL | detail, "since": T0, "judged_at": at(590)}
    kind = {"time_lag_kind": "unknown"}
    GroupState.objects.create(group=group, worst_queue=queue, completeness=1.0, **verdict, **kind)
    QueueState.objects.create(group=group, queue=queue, **verdict, **kind)
    GroupTotal.objects.create(group=group, queues=1, never_committed_queues=0, lag_messages=50, changed_at=T0)
    return group


def parts(group):
    [shown] = shown_groups(Overlay.at(NOW), [group.pk])
    return shown.verdict.parts


def test_the_sentence_names_the_message_that_blocks_the_queue(held):
    look_up(held)
    assert parts(judged(held, expires_in_seconds=7200)) == [
        "blocked 5 min on Stock/broker-a/3: c1 suspends message 100 (order-7); failures there: 0.9 msg/s"
        " · blocks 49 messages",
        "oldest message expires in 2 h",
    ]


def test_where_the_member_holds_nothing_the_judgement_speaks(held):
    held.cached_min = held.head_since = None
    held.save()
    assert [part.split(":")[0] for part in parts(judged(held))] == ["blocked", "queue 3 of Stock on broker-a"]


def test_another_rule_speaks_for_itself(held):
    assert parts(judged(held, rule="no_owner"))[0] == "no owner"


def test_groups_that_are_not_blocked_cost_no_query(held, django_assert_max_num_queries):
    group = judged(held, rule="no_owner")
    overlay = Overlay.at(NOW)
    with django_assert_max_num_queries(5):
        shown_groups(overlay, [group.pk])
