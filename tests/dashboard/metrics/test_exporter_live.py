"""rocketmq-exporter's names beside the truth of a real broker, as RocketMQ's own client tells it."""

import time
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster, ConsumerGroup
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.polling.samples.reading import SampleBudget
from consumers.rocketmq.bodies.fastjson import loads
from dashboard.metrics.families import scrape
from tests.exposition_parser import parsed

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

BROKER, TOPIC, GROUP, ONLINE = "broker-a", "MetricsTruth", "metricstruth", "metricsonline"
RETRY, DEAD = f"%RETRY%{GROUP}", f"%DLQ%{GROUP}"
GET_ALL_CONSUMER_OFFSET, GET_BROKER_CONFIG = 43, 26
FIRST, SECOND = (2, 5), (8, 20)


@pytest.fixture
def poller(rocketmq, tmp_path, settings):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    cluster = Cluster.objects.create(name="scraped", namesrv=rocketmq.namesrv, created_at=timezone.now())
    lake = Lake.at(str(tmp_path / "lake"))
    poller = ClusterPoller(cluster, PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, lake, 0, SampleBudget(0, 0, 0)))
    yield poller
    poller.close()


@pytest.fixture
def sent(java_admin):
    """12 and 30 messages in two queues, of which the group has consumed the first; 4 to be retried, 3 dead."""
    java_admin.create_topic(TOPIC, 2)
    for topic in (RETRY, DEAD):
        java_admin.create_topic(topic, 1)
    for group in (GROUP, ONLINE):
        java_admin.create_group(group)
    ends = {
        (topic, queue_id): 1 + java_admin.send(topic, BROKER, queue_id, count)[-1]
        for topic, queue_id, count in ((TOPIC, 0, 12), (TOPIC, 1, 30), (RETRY, 0, 4), (DEAD, 0, 3))
    }
    java_admin.set_offset(GROUP, RETRY, BROKER, 0, 1)
    commit(java_admin, FIRST)
    return ends


@pytest.fixture
def online(java_admin, sent):
    java_admin.start_consumer(ONLINE, TOPIC, "metrics-1")
    yield
    java_admin.stop_consumer("metrics-1")


def read_a_minute_ago(poller):
    """As the clock stood then; by it no store time of the broker may be judged."""
    at = timezone.now() - timedelta(seconds=60)
    poller.poll(at)
    poller.settings = replace(poller.settings, samples=SampleBudget(1000, 0, 0))
    return at


def commit(java_admin, offsets):
    for queue_id, offset in enumerate(offsets):
        java_admin.set_offset(GROUP, TOPIC, BROKER, queue_id, offset)


def of_group(samples, name, group=GROUP):
    """Values by topic, where a family has one."""
    mine = {labels: value for (family, labels), value in samples.items() if family == f"rocketmq_{name}"}
    return {dict(labels).get("topic", ""): value for labels, value in mine.items() if ("group", group) in labels}


def of_topics(samples, name):
    return {dict(labels)["topic"]: value for (family, labels), value in samples.items() if family == f"rocketmq_{name}"}


def offsets_told(java_admin):
    """By topic, the sum of the group's offsets."""
    table = loads(java_admin.ask(BROKER, GET_ALL_CONSUMER_OFFSET).encode())["offsetTable"]
    mine = {place.split("@")[0]: sum(queues.values()) for place, queues in table.items() if place.endswith(f"@{GROUP}")}
    return dict(mine)


def test_every_family_says_what_the_broker_says(poller, sent, online, java_admin, client, admin_user):
    client.force_login(admin_user)
    read_a_minute_ago(poller)
    commit(java_admin, SECOND)
    until = time.monotonic() + 240
    while True:
        now = timezone.now()
        poller.poll(now)
        spoken = ConsumerGroup.objects.filter(name=ONLINE, clients__consume_status__has_key=TOPIC)
        if spoken.exists() or time.monotonic() > until:
            break
        time.sleep(0.5)
    samples = parsed(b"".join(client.get("/metrics?cluster=scraped").streaming_content).decode())
    families = [family for family in scrape(now, "scraped").families if family.name.startswith("rocketmq_")]
    claimed = {family.name for family in families if list(family.samples)}
    assert {name for name, _ in samples if name.startswith("rocketmq_")} == claimed

    told = offsets_told(java_admin)
    assert told == {TOPIC: sum(SECOND), RETRY: 1}
    assert of_group(samples, "consumer_offset") == told
    behind = {topic: sum(end for (name, _), end in sent.items() if name == topic) - told[topic] for topic in told}
    assert of_group(samples, "group_diff") == {TOPIC: behind[TOPIC]}
    assert of_group(samples, "group_retrydiff") == {RETRY: behind[RETRY]}
    assert of_group(samples, "message_accumulation") == behind
    assert of_group(samples, "group_dlqdiff") == {DEAD: sent[DEAD, 0]}
    assert of_group(samples, "topic_dlq_offset") == {"": sent[DEAD, 0]}
    assert of_topics(samples, "producer_offset")[TOPIC] == sent[TOPIC, 0] + sent[TOPIC, 1]
    assert of_topics(samples, "topic_retry_offset")[RETRY] == sent[RETRY, 0]
    assert of_group(samples, "group_count") == {"": 0}
    assert of_group(samples, "group_count", ONLINE) == {"": 1}


def test_times_rates_and_names_are_the_broker_s(poller, sent, java_admin, client, admin_user):
    client.force_login(admin_user)
    began = read_a_minute_ago(poller)
    commit(java_admin, SECOND)
    now = timezone.now()
    poller.poll(now)
    samples = parsed(b"".join(client.get("/metrics?cluster=scraped").streaming_content).decode())
    stored = [java_admin.stored_messages(TOPIC, BROKER, n, offset)[0]["stored_ms"] for n, offset in enumerate(SECOND)]
    assert of_group(samples, "group_get_latency_by_storetime")[TOPIC] == pytest.approx(
        now.timestamp() * 1000 - min(stored), abs=1
    )
    moved = sum(SECOND) - sum(FIRST)
    assert of_group(samples, "consumer_tps") == {TOPIC: pytest.approx(moved / (now - began).total_seconds())}
    assert of_topics(samples, "producer_tps")[TOPIC] == 0
    config = dict(line.split("=", 1) for line in java_admin.ask(BROKER, GET_BROKER_CONFIG).splitlines() if "=" in line)
    named = {dict(labels)["cluster"] for (name, labels) in samples if name == "rocketmq_producer_offset"}
    assert named == {config["brokerClusterName"]}
