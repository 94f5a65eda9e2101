"""What brokers say of keeping and taking messages: asked seldom, and refused without harm."""

import asyncio

import pytest

from consumers.models import Broker
from consumers.polling.brokers.remembered import StoreConfig, StoreConfigMemory, read_store_configs, store_config
from consumers.polling.reading import BrokerReading
from consumers.polling.record.brokers import record_store_configs
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.connection import ConnectionPool
from tests.consumers.rocketmq.fake_server import answering, reply, served
from tests.readings import at
from tests.world import a_broker, a_cluster

READ = BrokerReading("broker-a", "127.0.0.1:1")


@pytest.mark.parametrize(
    ("sentence", "config", "expected"),
    [
        ("all of it", {"fileReservedTime": "72", "deleteWhen": "04", "brokerPermission": "6"}, (72, "04", 6)),
        ("nothing", {}, (None, None, None)),
        ("what is no number", {"fileReservedTime": "three days", "brokerPermission": "-"}, (None, None, None)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_takes_what_is_told(sentence, config, expected):
    found = store_config("broker-a", config)
    assert (found.file_reserved_hours, found.delete_when, found.permission) == expected


def test_each_broker_is_asked_every_ten_minutes():
    memory = StoreConfigMemory(600)
    due = [memory.due([READ], at(seconds)) for seconds in (0, 15, 585, 600, 615)]
    asked = [("broker-a", "127.0.0.1:1")]
    assert due == [asked, [], [], asked, []]


@pytest.mark.parametrize(
    "broker",
    [
        BrokerReading("broker-a", "127.0.0.1:1", error="refused"),
        BrokerReading("broker-a", "127.0.0.1:1", read_from="127.0.0.1:2"),
        BrokerReading("broker-a", None),
    ],
    ids=["not read", "read from a slave", "without an address"],
)
def test_only_masters_that_were_read_are_asked(broker):
    assert StoreConfigMemory(600).due([broker], at(0)) == []


def answers(code, **fields):
    def answer(command):
        assert command.code == RequestCode.GET_BROKER_CONFIG
        return reply(command, code, **fields)

    async def ask():
        async with served(answering(answer)) as address, ConnectionPool() as pool:
            return await read_store_configs(pool, [("broker-a", address)], 1.0)

    return asyncio.run(ask())


def test_it_asks_a_broker_for_its_configuration():
    found = answers(ResponseCode.SUCCESS, body=b"fileReservedTime=48\ndeleteWhen=04\nbrokerPermission=4\n")
    assert found == [StoreConfig("broker-a", 48, "04", permission=4)]


def test_a_refusal_is_said_and_nothing_is_guessed():
    [found] = answers(ResponseCode.NO_PERMISSION, remark="no permission")
    assert "no permission" in (found.error or "")
    assert (found.file_reserved_hours, found.permission) == (None, None)


@pytest.mark.django_db
def test_it_stores_the_delays_of_a_brokers_levels_as_it_writes_them():
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    told = store_config("broker-a", {"messageDelayLevel": "1s 5s 10s"})
    record_store_configs(cluster, [told], at(0))
    assert Broker.objects.get().delay_levels == "1s 5s 10s"


@pytest.mark.django_db
def test_it_stores_how_often_a_broker_writes_its_offsets():
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    record_store_configs(cluster, [store_config("broker-a", {"flushConsumerOffsetInterval": "10000"})], at(0))
    assert Broker.objects.get().flush_offsets_ms == 10_000


@pytest.mark.parametrize(("told", "percent"), [("75", 75), ("5", 10), ("99", 95), ("most", None), (None, None)])
@pytest.mark.django_db
def test_it_stores_the_use_of_its_disk_above_which_a_broker_deletes_sooner(told, percent):
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    config = {} if told is None else {"diskMaxUsedSpaceRatio": told}
    record_store_configs(cluster, [store_config("broker-a", config)], at(0))
    assert Broker.objects.get().disk_max_used_percent == percent


def test_a_list_of_delays_too_long_to_be_kept_is_not_known():
    assert store_config("broker-a", {"messageDelayLevel": " ".join(["1s"] * 400)}).delay_levels is None


@pytest.mark.django_db
def test_a_refusal_leaves_what_was_known_with_its_reason():
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    record_store_configs(cluster, [StoreConfig("broker-a", 48, "04", permission=6)], at(0))
    record_store_configs(cluster, [StoreConfig("broker-a", error="no permission")], at(600))
    row = Broker.objects.get()
    assert (row.file_reserved_hours, row.config_at, row.config_error) == (48, at(0), "no permission")
    record_store_configs(cluster, [StoreConfig("broker-a", 72, "04", 6)], at(1200))
    row.refresh_from_db()
    assert (row.file_reserved_hours, row.config_error) == (72, None)
