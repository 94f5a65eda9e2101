"""Samples of a real broker and real members: what they are set to, filtered topics, and starts."""

import time
from datetime import UTC, datetime

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Client, Cluster, ConsumerGroup, QueueSample, TagSample
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.queries.queues.starts import tag_samples
from tests.plugins.java_admin import JavaAdmin

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

SETTINGS = {"cadence": Cadence(0, 0), "budget": Budget(1000, 100), "deadline_seconds": 5.0, "disk_floor_mib": 0}


@pytest.fixture
def poller(rocketmq, tmp_path):
    cluster = Cluster.objects.create(name="sampled", namesrv=rocketmq.namesrv, created_at=timezone.now())
    poller = ClusterPoller(cluster, PollSettings(lake=Lake.at(str(tmp_path / "lake")), **SETTINGS))
    yield poller
    poller.close()


@pytest.fixture
def members(rocketmq, rocketmq_jars):
    """Members in a process of their own: they may never end."""
    with JavaAdmin(rocketmq, rocketmq_jars, "sampled-members") as members:
        yield members


def poll_until(poller, seen, seconds=240):
    deadline = time.monotonic() + seconds
    while not (found := seen()):
        assert time.monotonic() < deadline
        time.sleep(0.5)
        poller.poll(datetime.now(UTC))
    return found


def test_a_member_says_what_it_is_set_to(poller, java_admin, members):
    java_admin.create_topic("SampledSettings", 1)
    members.start_consumer("sampled-settings", "SampledSettings", "sampled-settings-1", pull_messages=7)

    def client_answers():
        return Client.objects.filter(group__name="sampled-settings", settings__isnull=False).first()

    client = poll_until(poller, client_answers)
    wanted = {
        "pullBatchSize": "7",
        "clientRebalance": "true",
        "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
        "offsetStore": "org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore",
    }
    assert {name: client.settings.get(name) for name in wanted} == wanted
    assert client.pop_queues == []
    assert client.group.outside_store is None


def test_the_next_messages_of_a_filtered_topic_are_counted(poller, java_admin, members):
    java_admin.create_topic("SampledTags", 1)
    java_admin.create_group("sampled-tags")
    members.start_consumer("sampled-tags", "SampledTags", "sampled-tags-1", consume="none", tags="TagA || TagC")
    poll_until(poller, lambda: ConsumerGroup.objects.filter(name="sampled-tags", online=True).first())
    members.stop_consumer("sampled-tags-1")
    for tags in ("TagB", "TagA", "", "TagC", "TagB"):
        java_admin.send("SampledTags", "broker-a", 0, 1, tags=tags)
    java_admin.set_offset("sampled-tags", "SampledTags", "broker-a", 0, 0)
    sample = poll_until(poller, lambda: TagSample.objects.filter(group__name="sampled-tags").first())
    assert (sample.looked_at, sample.matching, sample.expression) == (5, 2, "TagA || TagC")
    [row] = tag_samples(sample.group)
    assert row.sentence == "2 of the next 5 messages of SampledTags match TagA || TagC"
    java_admin.set_offset("sampled-tags", "SampledTags", "broker-a", 0, 5)
    poll_until(poller, lambda: not TagSample.objects.filter(group__name="sampled-tags").exists())


def test_a_queue_without_an_offset_says_where_a_member_would_start(poller, java_admin):
    java_admin.create_topic("SampledStarts", 2)
    java_admin.create_group("sampled-starts")
    java_admin.send("SampledStarts", "broker-a", 1, 3)
    java_admin.set_offset("sampled-starts", "SampledStarts", "broker-a", 0, 0)

    def sample():
        found = QueueSample.objects.filter(group__name="sampled-starts", queue__queue_id=1)
        return found.filter(queue__topic__name="SampledStarts").first()

    found = poll_until(poller, sample)
    assert (found.start_offset, found.start_error, found.offset) == (0, None, None)
    assert "memory" in found.start_rule
    java_admin.set_offset("sampled-starts", "SampledStarts", "broker-a", 1, 1)
    poll_until(poller, lambda: not sample() or sample().start_rule is None)
