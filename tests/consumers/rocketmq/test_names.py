import pytest

from consumers.rocketmq.names import (
    dlq_topic,
    group_of_retry_topic,
    is_retry_topic_of,
    is_system_group,
    retry_topic,
    topic_kind,
)


@pytest.mark.parametrize(
    "group",
    [
        "CID_DefaultHeartBeatSyncerTopic",
        "CID_ONS-HTTP-PROXY",
        "CID_ONSAPI_OWNER",
        "CID_ONSAPI_PERMISSION",
        "CID_ONSAPI_PULL",
        "CID_RMQ_SYS_REVIVE_GROUP",
        "CID_RMQ_SYS_TRANS",
        "DEFAULT_CONSUMER",
        "FILTERSRV_CONSUMER",
        "SCHEDULE_CONSUMER",
        "SELF_TEST_C_GROUP",
        "TOOLS_CONSUMER",
        "__MONITOR_CONSUMER",
    ],
)
def test_it_knows_the_groups_of_rocketmq_itself(group: str) -> None:
    assert is_system_group(group)


@pytest.mark.parametrize("group", ["billing", "CID_billing", "TOOLS_CONSUMER_2", "tools_consumer", "my_CID_RMQ_SYS_"])
def test_a_group_of_a_similar_name_is_a_user_s(group: str) -> None:
    assert not is_system_group(group)


@pytest.mark.parametrize(
    ("topic", "kind"),
    [
        ("orders", "normal"),
        ("RETRY%orders", "normal"),
        ("orders%DLQ%", "normal"),
        ("%RETRY%billing", "retry"),
        ("%RETRY%billing_orders", "retry"),
        ("%RETRY%billing+orders", "retry"),
        ("%RETRY%TOOLS_CONSUMER", "system"),
        ("%DLQ%billing", "dlq"),
        ("%DLQ%CID_RMQ_SYS_TRANS", "system"),
        ("SCHEDULE_TOPIC_XXXX", "system"),
        ("RMQ_SYS_TRANS_HALF_TOPIC", "system"),
        ("RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "system"),
        ("rmq_sys_wheel_timer", "system"),
        ("rmq_sys_REVIVE_LOG_demo", "system"),
        ("TBW102", "system"),
        ("BenchmarkTest", "system"),
    ],
)
def test_it_tells_the_kind_of_a_topic(topic: str, kind: str) -> None:
    assert topic_kind(topic) == kind


def test_it_names_the_topics_of_a_group() -> None:
    assert (retry_topic("billing"), dlq_topic("billing")) == ("%RETRY%billing", "%DLQ%billing")


@pytest.mark.parametrize(
    ("topic", "group", "is_retry"),
    [
        pytest.param("%RETRY%billing", "billing", True, id="the group's own"),
        pytest.param("%RETRY%billing_orders", "billing", True, id="of POP, v1"),
        pytest.param("%RETRY%billing+orders", "billing", True, id="of POP, v2"),
        pytest.param("%RETRY%billing_eu", "billing", False, id="of a group whose name is longer"),
        pytest.param("%RETRY%billing_eu_orders", "billing_eu", True, id="of POP, v1, a group with an underscore"),
        pytest.param("%RETRY%billing_eu_orders", "billing", False, id="the same asked of the shorter name"),
        pytest.param("%RETRY%billing", "audit", False, id="of another group"),
        pytest.param("%DLQ%billing", "billing", False, id="dead letters"),
    ],
)
def test_it_tells_whose_retry_topic_it_is(topic: str, group: str, is_retry: bool) -> None:
    assert is_retry_topic_of(topic, group, {"orders", "quiet"}) is is_retry


@pytest.mark.parametrize(
    ("topic", "group"),
    [
        ("%RETRY%billing", "billing"),
        ("%RETRY%bill_ing", "bill_ing"),
        ("%RETRY%billing+orders", "billing"),
        ("%RETRY%billing_orders", "billing"),
        ("%RETRY%bill_ing_eu_orders", "bill_ing"),
        # As its own and as a POP retry's of v1.
        ("%RETRY%a_T", "a_T"),
        # Of two groups.
        ("%RETRY%a_b_c", None),
        ("%RETRY%nobody", None),
        ("%RETRY%nobody+orders", None),
        ("%RETRY%billing_unknown", None),
        ("%DLQ%billing", None),
        ("orders", None),
        ("", None),
    ],
)
def test_it_tells_whose_retries_a_topic_takes(topic: str, group: str | None) -> None:
    groups = {"billing", "bill_ing", "a", "a_T", "a_b"}
    assert group_of_retry_topic(topic, groups, {"orders", "eu_orders", "T", "c", "b_c"}) == group
