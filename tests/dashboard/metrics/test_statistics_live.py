"""What brokers count, beside what RocketMQ's own admin client, which the exporter uses, is given of the same counts."""

import time

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.polling.statistics_poller import StatisticsLimits
from tests.exposition_parser import parsed

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

TOPIC, GROUP, BROKER = "MetricsCounted", "metricscounted", "broker-a"
# A broker adds up what it counted every 10 s, so that two calls may see different minutes.
COUNTED_SECONDS = 160


@pytest.fixture
def poller(rocketmq, tmp_path, settings):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    cluster = Cluster.objects.create(name="counted", namesrv=rocketmq.namesrv, created_at=timezone.now())
    limits = StatisticsLimits(calls=1000, seconds=0)
    poller = ClusterPoller(
        cluster, PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, Lake.at(str(tmp_path)), 0, statistics=limits)
    )
    yield poller
    poller.close()


@pytest.fixture
def failing(java_admin):
    """A member that sends each of 12 messages back."""
    java_admin.create_topic(TOPIC, 2, broker=BROKER)
    java_admin.create_group(GROUP)
    java_admin.start_consumer(GROUP, TOPIC, "counted-1", consume="none")
    java_admin.send(TOPIC, BROKER, 0, 12, size=500)
    yield
    java_admin.stop_consumer("counted-1")


def test_sizes_and_messages_sent_back_are_what_the_exporter_would_say(poller, failing, java_admin, client, admin_user):
    client.force_login(admin_user)
    keys = {
        "send_back_nums": ("SNDBCK_PUT_NUMS", f"{TOPIC}@{GROUP}"),
        "consumer_message_size": ("GROUP_GET_SIZE", f"{TOPIC}@{GROUP}"),
        "producer_message_size": ("TOPIC_PUT_SIZE", TOPIC),
    }
    deadline = time.monotonic() + COUNTED_SECONDS
    while True:
        before = {name: java_admin.statistic(BROKER, *key) for name, key in keys.items()} if _counts(poller) else {}
        poller.poll(timezone.now())
        samples = parsed(b"".join(client.get("/metrics?cluster=counted").streaming_content).decode())
        of_topic = {name: value for (name, labels), value in samples.items() if ("topic", TOPIC) in labels}
        found = {name: of_topic.get(f"rocketmq_{name}") for name in keys}
        if before and before["send_back_nums"][0] >= 12 and None not in found.values():
            after = {name: java_admin.statistic(BROKER, *key) for name, key in keys.items()}
            if before == after:
                break
        assert time.monotonic() < deadline, found
        time.sleep(1)
    assert found == {
        "send_back_nums": before["send_back_nums"][0],
        "consumer_message_size": round(before["consumer_message_size"][1], 2),
        "producer_message_size": round(before["producer_message_size"][1], 2),
    }


def _counts(poller):
    """A broker knows none of the names before it has counted once."""
    return poller.cluster.statistics.filter(topic=TOPIC, group=GROUP).exclude(sent_back_messages=None).exists()
