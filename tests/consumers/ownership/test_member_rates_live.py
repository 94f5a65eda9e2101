"""What is stored of a real member's rates is what RocketMQ's own admin classes are told of them."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster, ConsumerGroup
from consumers.ownership.member_rates import member_rates
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

TOPIC, GROUP, FAILING = "rated_orders", "rated", "rated_failing"
NAMES = {
    "ConsumeOKTPS": "consume_ok_tps",
    "ConsumeFailedTPS": "consume_failed_tps",
    "ConsumeRT": "consume_rt_ms",
    "PullTPS": "pull_tps",
    "PullRT": "pull_rt_ms",
}
# RocketMQ samples every 10 s, and has a rate from the second sample on.
DEADLINE_SECONDS = 480


@pytest.fixture
def poller(rocketmq, java_admin, tmp_path, settings):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    java_admin.create_topic(TOPIC, 1)
    java_admin.start_consumer(GROUP, TOPIC, "rated-1")
    java_admin.start_consumer(FAILING, TOPIC, "rated-2", consume="none")
    cluster = Cluster.objects.create(name="rated", namesrv=rocketmq.namesrv, created_at=timezone.now())
    poller = ClusterPoller(
        cluster, PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, Lake.at(settings.CONSUMERSCOPE_LAKE), 0)
    )
    yield poller
    poller.close()
    for instance in ("rated-1", "rated-2"):
        java_admin.stop_consumer(instance)


def stored(group, client_id, at):
    """The numbers of the poll at `at` alone: no other lies in its window."""
    found = member_rates(
        ConsumerGroup.objects.get(name=group),
        since=at - timedelta(microseconds=1),
        until=at + timedelta(seconds=1),
        now=at,
        step_seconds=60,
        topic=TOPIC,
        client_id=client_id,
    )
    return [point for series in found.series for point in series.points if point.answers == 1]


@pytest.mark.parametrize(
    ("group", "instance", "moving"),
    [(GROUP, "rated-1", "ConsumeOKTPS"), (FAILING, "rated-2", "ConsumeFailedTPS")],
)
def test_rates_are_those_that_rocketmq_tells_its_own_tools(rocketmq, poller, java_admin, group, instance, moving):
    client_id, broker = f"127.0.0.1@{instance}", next(iter(rocketmq.brokers))
    # In the middle of a minute: no window beside it is asked for.
    deadline, minute = time.monotonic() + DEADLINE_SECONDS, timezone.now().replace(second=30, microsecond=0)
    while True:
        assert time.monotonic() < deadline
        java_admin.send(TOPIC, broker, 0, 20)
        before = java_admin.consume_status(group, client_id, TOPIC)
        # Each poll has a minute of its own, in the past.
        minute -= timedelta(minutes=1)
        poller.poll(minute)
        after = java_admin.consume_status(group, client_id, TOPIC)
        if before != after or not before or not before[moving]:
            # The member took a sample meanwhile, or has none yet.
            time.sleep(1)
            continue
        ConsumerGroup.objects.get(name=group).clients.update(seen_since=minute - timedelta(hours=1), gone_by=None)
        (point,) = stored(group, client_id, minute)
        found = {name: getattr(point, field) for name, field in NAMES.items()}
        assert found == pytest.approx(before)
        return
