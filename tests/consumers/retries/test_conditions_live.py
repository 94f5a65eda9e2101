"""Conditions of retries on two real brokers: each is broken on purpose, found, and what it says is what happens."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.retries.checks.condition_rows import Condition, ConditionName, FailingGroup
from consumers.retries.checks.failing import conditions_of, failing_groups
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.config_bodies import SCHEDULE_TOPIC
from consumers.rocketmq.message_calls import call
from consumers.rocketmq.wire.codes import RequestCode
from consumers.vocabulary.findings import FindingSeverity
from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import JavaAdmin

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

# RocketMQ 5.4.0, RequestCode. Nothing but tests may send them.
UPDATE_BROKER_CONFIG, WIPE_WRITE_PERM_OF_BROKER, ADD_WRITE_PERM_OF_BROKER = 25, 205, 327
A, B = "broker-a", "broker-b"
GROUP, TOPIC = "conditions", "Conditions"
RETRY = f"%RETRY%{GROUP}"
NAME = "pair"


@pytest.fixture(scope="module")
def admin(java_admin_pair: JavaAdmin) -> Iterator[JavaAdmin]:
    """With a member that fails every message."""
    admin = java_admin_pair
    admin.create_topic(TOPIC, 2)
    admin.create_group(GROUP, retry_max_times=1000)
    admin.start_consumer(GROUP, TOPIC, "fails", consume="none", max_reconsume_times=1000, route_milliseconds=1000)
    try:
        wait(lambda: all(RETRY in admin.ask(broker, RequestCode.GET_ALL_TOPIC_CONFIG) for broker in (A, B)))
        yield admin
    finally:
        admin.stop_consumer("fails")


def wait(seen: Callable[[], bool], seconds: float = 360) -> None:
    deadline = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.fixture
def poller(rocketmq_pair: RocketMQ, admin: JavaAdmin, tmp_path: Path) -> Iterator[ClusterPoller]:
    """It has seen who is in the group, and so what that subscribes to."""
    cluster = Cluster.objects.create(name=NAME, namesrv=rocketmq_pair.namesrv, created_at=timezone.now())
    lake = Lake.at(str(tmp_path))
    poller = ClusterPoller(
        cluster, PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, lake, 0, store_config_seconds=0)
    )
    poller.poll(timezone.now())
    yield poller
    poller.close()


def change(poller: ClusterPoller, address: str, code: int, body: bytes = b"", **fields: str) -> None:
    poller.wire.run(call(poller.wire.pool, address, code, fields, body))


def found(poller: ClusterPoller) -> dict[ConditionName, Condition]:
    poller.poll(timezone.now())
    return {condition.name: condition for condition in conditions_of(NAME, GROUP, timezone.now())}


def group(**values: int) -> bytes:
    return json.dumps({"groupName": GROUP, "consumeEnable": True, "retryMaxTimes": 1000, **values}).encode()


def set_retry_topic(poller: ClusterPoller, address: str, *, perm: int = 6, queues: int = 1) -> None:
    fields = {"topic": RETRY, "defaultTopic": "TBW102", "readQueueNums": str(queues), "writeQueueNums": str(queues)}
    fields |= {"perm": str(perm), "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false"}
    change(poller, address, RequestCode.UPDATE_AND_CREATE_TOPIC, **fields)


def sent_back(poller: ClusterPoller, address: str) -> int:
    """How many delayed messages the broker has ever taken."""
    ends = poller.wire.run(BrokerAdmin(poller.wire.pool, address).broker_offsets([SCHEDULE_TOPIC]))
    return int(sum(ends["broker_offset"].to_pylist()))


def end(poller: ClusterPoller, address: str, queue_id: int) -> int:
    return int(poller.wire.run(BrokerAdmin(poller.wire.pool, address).max_offset(RETRY, queue_id)))


def has_committed(admin: JavaAdmin, offset: int) -> bool:
    """On queue 0 of the topic on broker-b."""
    return f'"{TOPIC}@{GROUP}":{{0:{offset}' in admin.ask(B, RequestCode.GET_ALL_CONSUMER_OFFSET)


def failing() -> list[FailingGroup]:
    """Brokers and the group: other tests have groups on these brokers too."""
    return [row for row in failing_groups(NAME, timezone.now()) if row.group in (None, GROUP)]


def test_a_healthy_group_has_nothing_that_fails(poller: ClusterPoller) -> None:
    told = found(poller)
    assert {name: one.detail for name, one in told.items() if one.ok is not True} == {}
    assert failing() == []


def test_a_closed_broker_lets_its_failed_messages_land_on_the_other(
    rocketmq_pair: RocketMQ, admin: JavaAdmin, poller: ClusterPoller
) -> None:
    closed, open_one = rocketmq_pair.brokers[A].address, rocketmq_pair.brokers[B].address
    change(poller, closed, UPDATE_BROKER_CONFIG, b"brokerPermission=4")
    try:
        told = found(poller)
        condition = told[ConditionName.TAKES_BACK]
        assert (condition.ok, condition.severity, condition.brokers) == (False, FindingSeverity.INFO, [A])
        assert "brokerPermission is 4" in condition.detail
        assert "retried through broker-b" in condition.detail
        assert told[ConditionName.ACCEPTED].ok is True
        assert [(row.group, row.broker) for row in failing()] == [(None, A)]

        def land_on_the_open_one() -> bool:
            """Copies go by the routes that the member knows: those of before it was closed, for a moment."""
            before = sent_back(poller, closed), sent_back(poller, open_one)
            admin.send(TOPIC, A, 0, 3)
            wait(lambda: sent_back(poller, closed) + sent_back(poller, open_one) >= sum(before) + 3)
            return sent_back(poller, closed) == before[0]

        wait(land_on_the_open_one)
    finally:
        change(poller, closed, UPDATE_BROKER_CONFIG, b"brokerPermission=6")
    assert found(poller)[ConditionName.TAKES_BACK].ok is True


def test_two_closed_brokers_take_nothing(rocketmq_pair: RocketMQ, poller: ClusterPoller) -> None:
    addresses = [broker.address for broker in rocketmq_pair.brokers.values()]
    try:
        for address in addresses:
            change(poller, address, UPDATE_BROKER_CONFIG, b"brokerPermission=4")
        told = found(poller)[ConditionName.ACCEPTED]
        assert (told.ok, told.severity, told.brokers) == (False, FindingSeverity.CRITICAL, [A, B])
        assert [row.severity for row in failing()] == [FindingSeverity.CRITICAL] * 2
    finally:
        for address in addresses:
            change(poller, address, UPDATE_BROKER_CONFIG, b"brokerPermission=6")


def test_a_broker_that_name_servers_route_nothing_to_takes_its_messages_back_all_the_same(
    rocketmq_pair: RocketMQ, admin: JavaAdmin, poller: ClusterPoller
) -> None:
    change(poller, rocketmq_pair.namesrv, WIPE_WRITE_PERM_OF_BROKER, brokerName=A)
    try:
        told = found(poller)
        wiped = told[ConditionName.ROUTED]
        assert (wiped.ok, wiped.severity, wiped.brokers) == (False, FindingSeverity.INFO, [A])
        assert told[ConditionName.TAKES_BACK].ok is True
        before = sent_back(poller, rocketmq_pair.brokers[A].address)
        admin.send(TOPIC, A, 0, 1)
        wait(lambda: sent_back(poller, rocketmq_pair.brokers[A].address) > before)
    finally:
        change(poller, rocketmq_pair.namesrv, ADD_WRITE_PERM_OF_BROKER, brokerName=A)
    assert found(poller)[ConditionName.ROUTED].ok is True


def test_retries_that_are_discarded_are_found_and_are_gone(
    rocketmq_pair: RocketMQ, admin: JavaAdmin, poller: ClusterPoller
) -> None:
    address = rocketmq_pair.brokers[B].address
    change(poller, address, RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, group(retryQueueNums=0))
    try:
        told = found(poller)[ConditionName.KEPT]
        assert (told.ok, told.severity, told.brokers) == (False, FindingSeverity.CRITICAL, [B])
        assert [(row.group, row.name) for row in failing()] == [(GROUP, ConditionName.KEPT)]
        before = sent_back(poller, address), len(admin.stored_messages(TOPIC, B, 0, 0))
        admin.send(TOPIC, B, 0, 2)
        wait(lambda: has_committed(admin, before[1] + 2))
        assert sent_back(poller, address) == before[0]
    finally:
        change(poller, address, RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, group(retryQueueNums=1))
    assert found(poller)[ConditionName.KEPT].ok is True


def test_more_retry_queues_than_the_topic_has_are_read_by_nobody(
    rocketmq_pair: RocketMQ, admin: JavaAdmin, poller: ClusterPoller
) -> None:
    address = rocketmq_pair.brokers[A].address
    change(poller, address, RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, group(retryQueueNums=3))
    try:
        told = found(poller)[ConditionName.RETRY_QUEUES]
        assert (told.ok, told.brokers) == (False, [A])
        assert "1 read queue on broker-a, and retries are spread over 3" in told.detail
        admin.send(TOPIC, A, 1, 12)
        wait(lambda: end(poller, address, 1) + end(poller, address, 2) > 0)
        assert admin.stored_messages(RETRY, A, 1, 0) + admin.stored_messages(RETRY, A, 2, 0) == []
        set_retry_topic(poller, address, queues=3)
        assert found(poller)[ConditionName.RETRY_QUEUES].ok is True
        assert admin.stored_messages(RETRY, A, 1, 0) + admin.stored_messages(RETRY, A, 2, 0) != []
    finally:
        change(poller, address, RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, group(retryQueueNums=1))


@pytest.mark.parametrize(
    ("perm", "name"), [(4, ConditionName.RETRY_WRITABLE), (2, ConditionName.RETRY_READABLE)], ids=["written", "read"]
)
def test_a_retry_topic_that_may_not_be(
    rocketmq_pair: RocketMQ, poller: ClusterPoller, perm: int, name: ConditionName
) -> None:
    address = rocketmq_pair.brokers[A].address
    set_retry_topic(poller, address, perm=perm)
    try:
        told = found(poller)[name]
        assert (told.ok, told.brokers) == (False, [A])
        assert name in {row.name for row in failing()}
    finally:
        set_retry_topic(poller, address)
    assert found(poller)[name].ok is True
