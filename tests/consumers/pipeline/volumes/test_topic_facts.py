"""Which retry and dead-letter topics appeared, and which groups have none."""

from datetime import timedelta

import pytest

from consumers.models import GroupBroker
from consumers.pipeline.volumes import appeared_topics, group_topics
from tests.pipeline_rows import at, us
from tests.world import a_cluster, a_group, a_reading

pytestmark = pytest.mark.django_db
TOPIC = "%RETRY%billing"
REACH = timedelta(seconds=45)


def entry(*topics, read=True, **more):
    return {"name": "broker-a", "read": read, "error": None, "topics_appeared": list(topics), **more}


@pytest.mark.parametrize(
    ("before", "seen", "expected"),
    [
        (entry(), entry(TOPIC), [us(15)]),
        (None, entry(TOPIC), None),
        (entry(read=False), entry(TOPIC), None),
        (entry(read_from="127.0.0.1:1"), entry(TOPIC), None),
        (entry(), entry(TOPIC, read_from="127.0.0.1:1"), None),
        (entry(), entry(TOPIC, read=False), None),
        (entry(), {"name": "broker-a", "read": True}, None),
    ],
    ids=[
        "read before without it",
        "not read before",
        "not read whole before",
        "a slave was read before",
        "a slave has it",
        "it was not read",
        "a reading from before this was noted",
    ],
)
def test_a_topic_appears_where_its_broker_was_read_before_without_it(before, seen, expected):
    cluster = a_cluster(read_at=None)
    for seconds, found in ((0, before), (15, seen)):
        a_reading(cluster, at(seconds), brokers=[found] if found else [])
    found = appeared_topics(["prod"], at(10), at(60), REACH).to_pylist()
    assert [row["appeared_us"] for row in found] == ([] if expected is None else [expected])


def test_a_reading_too_long_ago_proves_nothing():
    cluster = a_cluster(read_at=None)
    a_reading(cluster, at(0), brokers=[entry()])
    a_reading(cluster, at(46), brokers=[entry(TOPIC)])
    assert appeared_topics(["prod"], at(1), at(60), REACH).num_rows == 0


def configured(group, broker, retry=None, dead=None):
    GroupBroker.objects.create(
        group=group,
        broker=broker,
        configured=True,
        retry_permissions=retry or {},
        dlq_permission=dead,
        changed_at=at(0),
    )


@pytest.mark.parametrize(
    ("brokers", "expected"),
    [
        ({"broker-a": {}, "broker-b": {}}, (False, False)),
        ({"broker-a": {"retry": {TOPIC: 6}}, "broker-b": {}}, (True, False)),
        ({"broker-a": {}, "broker-b": {"dead": 6}}, (False, True)),
        ({"broker-a": {"dead": 0}}, (None, True)),
        ({"broker-a": {}}, (None, None)),
        ({"broker-a": {}, "broker-z": {}}, (None, None)),
    ],
    ids=[
        "neither",
        "a retry topic",
        "a dead-letter topic",
        "one broker was asked",
        "no topic so far",
        "another broker",
    ],
)
def test_a_group_has_no_topic_only_where_every_broker_was_asked(brokers, expected):
    cluster = a_cluster(read_at=None)
    a_reading(cluster, at(0), brokers=[{"name": name, "read": True} for name in ("broker-a", "broker-b")])
    group = a_group(cluster)
    for broker, topics in brokers.items():
        configured(group, broker, **topics)
    [row] = group_topics(["prod"]).to_pylist()
    assert (row["has_retry"], row["has_dead"]) == expected
