"""What a broker counts is asked of masters once a minute, and stored with what it did not say."""

import asyncio
import json
from types import SimpleNamespace

import pytest

from consumers.models import BrokerStatistic, Cluster
from consumers.polling.memory import ClusterMemory
from consumers.polling.statistics_poller import StatisticsLimits, StatisticsPoller
from consumers.rocketmq.wire.frames import Command
from tests.readings import T0, at

pytestmark = pytest.mark.django_db

MINUTE = {"TOPIC_PUT_SIZE": (600, 10.5), "GROUP_GET_SIZE": (1200, 20.25), "SNDBCK_PUT_NUMS": (7, 0.12)}


class CountingBroker:
    """The pool and the wire of a poller, with a broker behind each address that has counted MINUTE of everything."""

    def __init__(self):
        self.asked, self.never, self.refuses = [], set(), {}
        self.pool = self

    def run(self, call):
        return asyncio.run(call)

    async def request(self, address, code, ext_fields, body, *, deadline_seconds):
        name = ext_fields["statsName"]
        self.asked.append((address, code, name, ext_fields["statsKey"]))
        if name in self.never:
            return Command(code=1, opaque=1, remark=f"The stats <{name}> not exist")
        if name in self.refuses:
            return Command(code=self.refuses[name], opaque=1, remark="no permission")
        total, per_second = MINUTE[name]
        minute = {"avgpt": 0, "sum": total, "tps": per_second}
        return Command(code=0, opaque=1, body=json.dumps({"statsMinute": minute}).encode())


@pytest.fixture
def wire():
    return CountingBroker()


@pytest.fixture
def cluster():
    return Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)


@pytest.fixture
def poll(wire, cluster):
    memory = ClusterMemory()
    memory.committed["broker-a"] = frozenset({("billing", "Orders")})
    poller = StatisticsPoller(cluster, StatisticsLimits(calls=10))

    def poll(second=0, **fields):
        broker = SimpleNamespace(
            **{"name": "broker-a", "read": True, "answered_by": "a:1", "read_from": None, **fields}
        )
        poller.poll(wire, SimpleNamespace(brokers=[broker]), memory, at(second), 1.0)

    return poll


def stored():
    names = ("topic", "group", "bytes_per_second", "sent_back_messages")
    return list(BrokerStatistic.objects.order_by("group").values_list(*names))


def test_a_topic_and_a_group_s_part_of_it_have_what_the_broker_counted(poll, wire):
    poll()
    assert stored() == [("Orders", "", 10.5, None), ("Orders", "billing", 20.25, 7)]
    assert sorted(wire.asked) == [
        ("a:1", 315, "GROUP_GET_SIZE", "Orders@billing"),
        ("a:1", 315, "SNDBCK_PUT_NUMS", "Orders@billing"),
        ("a:1", 315, "TOPIC_PUT_SIZE", "Orders"),
    ]


def test_what_it_has_never_counted_is_null_and_no_error(poll, wire):
    wire.never = {"SNDBCK_PUT_NUMS"}
    poll()
    assert stored()[1] == ("Orders", "billing", 20.25, None)
    assert not BrokerStatistic.objects.exclude(error=None).exists()


def test_what_it_refuses_is_null_for_that_reason(poll, wire):
    wire.refuses = {"GROUP_GET_SIZE": 16}
    poll()
    assert stored() == [("Orders", "", 10.5, None), ("Orders", "billing", None, None)]
    assert "no permission" in BrokerStatistic.objects.get(group="billing").error


def test_a_broker_that_refuses_the_first_is_not_asked_for_others(poll, wire):
    wire.refuses = dict.fromkeys(MINUTE, 16)
    poll()
    assert (len(wire.asked), [topic for topic, *_ in stored()]) == (1, ["Orders"])


def test_it_is_asked_once_a_minute_and_has_one_row(poll, wire):
    for second in (0, 15, 59):
        poll(second)
    assert len(wire.asked) == 3
    poll(60)
    assert (len(wire.asked), len(stored())) == (6, 2)
    assert set(BrokerStatistic.objects.values_list("asked_at", flat=True)) == {at(60)}


@pytest.mark.parametrize("fields", [{"read": False}, {"answered_by": None}, {"read_from": "broker-a:1"}])
def test_a_broker_that_was_not_read_and_a_slave_are_not_asked(poll, wire, fields):
    poll(**fields)
    assert (wire.asked, stored()) == ([], [])


def test_rows_that_nobody_asked_for_again_go(poll, cluster):
    BrokerStatistic.objects.create(cluster=cluster, broker="broker-z", topic="Gone", asked_at=at(-601))
    BrokerStatistic.objects.create(cluster=cluster, broker="broker-z", topic="WithHeartbeat", asked_at=at(-599))
    poll()
    assert [topic for topic, *_ in stored()] == ["WithHeartbeat", "Orders", "Orders"]


def test_without_calls_nothing_is_asked(wire, cluster):
    poller = StatisticsPoller(cluster, StatisticsLimits(calls=0))
    poller.poll(wire, SimpleNamespace(brokers=[]), ClusterMemory(), at(0), 1.0)
    assert wire.asked == []
