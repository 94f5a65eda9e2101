"""Which of a client's properties are kept, and what its offset store is."""

import pytest

from consumers.polling.members.client_round import UNNAMED_CLASS, kept_settings, offset_store, outside_store
from consumers.rocketmq.bodies.client_bodies import running_info
from tests.consumers.rocketmq.golden import golden

REMOTE = "org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore"
LOCAL = "org.apache.rocketmq.client.consumer.store.LocalFileOffsetStore"


def test_a_real_client_tells_what_it_is_set_to():
    kept = kept_settings(running_info(golden("running_info_307").body).properties)
    wanted = {
        "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
        "persistConsumerOffsetInterval": "5000",
        "maxReconsumeTimes": "-1",
        "pullThresholdForQueue": "1000",
        "clientRebalance": "true",
        "messageModel": "CLUSTERING",
        "offsetStore": REMOTE,
    }
    assert {name: kept.get(name) for name in wanted} == wanted


@pytest.mark.parametrize(
    "name", ["socksProxyConfig", "rpcHook", "messageListener", "log", "namesrvAddr", "subscription", "password"]
)
def test_what_may_hold_a_secret_is_not_kept(name):
    assert kept_settings({name: "s3cr3t", "pullBatchSize": "32"}) == {"pullBatchSize": "32"}


def test_a_long_value_is_cut():
    assert len(kept_settings({"consumeTimestamp": "9" * 5000})["consumeTimestamp"]) == 200


@pytest.mark.parametrize(
    ("printed", "store"),
    [
        (REMOTE + "@6e463f8d", REMOTE),
        ("com.shop.Redis$Store$$Lambda/0x1f@a1", "com.shop.Redis$Store$$Lambda/0x1f"),
        ("RedisStore{url=redis://:s3cr3t@host}", UNNAMED_CLASS),
        ("s3cr3t", UNNAMED_CLASS),
        ("", UNNAMED_CLASS),
        (None, None),
    ],
)
def test_an_offset_store_is_its_class_and_nothing_else_that_it_prints(printed, store):
    properties = {} if printed is None else {"offsetStore": printed}
    assert offset_store(properties) == store
    assert kept_settings(properties).get("offsetStore") == store


@pytest.mark.parametrize(
    ("settings", "outside"),
    [
        (None, None),
        ({}, None),
        ({"offsetStore": REMOTE}, None),
        ({"offsetStore": LOCAL}, None),
        ({"offsetStore": "com.shop.Store"}, "com.shop.Store"),
        ({"offsetStore": UNNAMED_CLASS}, UNNAMED_CLASS),
    ],
)
def test_a_store_of_another_s_making_is_outside(settings, outside):
    assert outside_store(settings) == outside
