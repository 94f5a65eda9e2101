"""Dead letters of real members on a real broker: the rows say what RocketMQ's own classes read of each message, and
looking leaves nothing behind."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import timezone

from consumers.dead_letters.index import IndexLimits, index_groups
from consumers.jobs.hold import close_wires
from consumers.models import Broker, Cluster, ConsumerGroup, DeadLetter, DeadLetterLook
from consumers.rocketmq.wire.codes import RequestCode
from dashboard.demo.cluster import RocketMQ
from tests.plugins.calling import JavaCallFailed
from tests.plugins.java_admin import JavaAdmin
from tests.world import a_group

pytestmark = [pytest.mark.live, pytest.mark.django_db]
GROUP, TOPIC, DEAD = "mourners", "obituaries", "%DLQ%mourners"
LETTERS = 240


@pytest.fixture(scope="module")
def dead(java_admin: JavaAdmin) -> list[dict[str, Any]]:
    """What RocketMQ's own decoder reads of messages whose member gave each of them up at its first try."""
    java_admin.create_topic(TOPIC, 2)
    for queue_id in (0, 1):
        _fill(java_admin, queue_id)
    java_admin.start_consumer(GROUP, TOPIC, "mourner", consume="none", max_reconsume_times=0)
    found: list[dict[str, Any]] = []
    deadline = time.monotonic() + 240
    while len(found) < LETTERS and time.monotonic() < deadline:
        more = java_admin.stored_messages(DEAD, "broker-a", 0, len(found))
        found += more
        if not more:
            time.sleep(0.2)
    java_admin.stop_consumer("mourner")
    assert len(found) == LETTERS
    return found


def _fill(java_admin: JavaAdmin, queue_id: int) -> None:
    """The broker of a busy machine refuses a message now and then."""
    newest = -1
    while newest < LETTERS // 2 - 1:
        try:
            [newest] = java_admin.send(TOPIC, "broker-a", queue_id, tags="late", size=70 + queue_id)
        except JavaCallFailed as failure:
            if "broker busy" not in str(failure):
                raise


@pytest.fixture
def mourners(rocketmq: RocketMQ) -> Iterator[ConsumerGroup]:
    now = timezone.now()
    cluster = Cluster.objects.create(name="live", namesrv=rocketmq.namesrv, created_at=now)
    for name, broker in rocketmq.brokers.items():
        Broker.objects.create(cluster=cluster, name=name, broker_id=0, address=broker.address)
    yield a_group(cluster, GROUP)
    close_wires()


def moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def test_the_rows_say_what_rocketmq_reads_of_each(dead: list[dict[str, Any]], mourners: ConsumerGroup) -> None:
    looked = index_groups(mourners.cluster, mourners, IndexLimits(), timezone.now())
    names = ("offset", "queue_id", "stored_id", "message_id", "keys", "tags", "reconsume_times", "size")
    rows = list(DeadLetter.objects.order_by("offset"))
    assert [[getattr(row, name) for name in names] for row in rows] == [[one[name] for name in names] for one in dead]
    assert [(row.born_at, row.stored_at) for row in rows] == [
        (moment(one["born_ms"]), moment(one["stored_ms"])) for one in dead
    ]
    assert [(row.origin_topic, row.origin_message_id) for row in rows] == [
        (TOPIC, one["properties"]["ORIGIN_MESSAGE_ID"]) for one in dead
    ]
    assert {row.reconsume_times for row in rows} == {1}
    assert (looked.letters, looked.waiting, looked.calls) == (LETTERS, 0, 1 + -(-LETTERS // 32))
    assert DeadLetterLook.objects.values_list("indexed_from", "indexed_to", "error").get() == (0, LETTERS, None)


def test_looking_leaves_nothing_behind(
    dead: list[dict[str, Any]], mourners: ConsumerGroup, java_admin: JavaAdmin
) -> None:
    codes = (
        RequestCode.GET_ALL_TOPIC_CONFIG,
        RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
        RequestCode.GET_ALL_CONSUMER_OFFSET,
    )
    before = [java_admin.ask("broker-a", code) for code in codes]
    index_groups(mourners.cluster, mourners, IndexLimits(), timezone.now())
    assert [java_admin.ask("broker-a", code) for code in codes] == before
