"""A real consumer that is given four messages while it consumes one: it stays WARN for as long as that goes on.

Time runs twenty times as fast for what is polled and evaluated, so that twenty minutes take one.
"""

import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster, GroupState, QueueState
from consumers.pipeline.durations import Durations
from consumers.pipeline.job import run
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.polling.samples.reading import SampleBudget
from tests.plugins.counting_consumers import CountingConsumers

pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.django_db(transaction=True),
]

TOPIC, GROUP = "SlowOrders", "slow-billing"
FASTER = 20
POLL_SECONDS, PRODUCED_PER_SECOND = 15, 4  # of the faster time
MINUTES = 20
# The trend wants ten minutes, and on a busy machine the first one may go without a poll.
EVALUATED = (4, 11, 13, 16, 20)
SECONDS_EACH = 1 / FASTER  # so it consumes a message a second of the faster time


@pytest.fixture
def poller(rocketmq, tmp_path):
    cluster = Cluster.objects.create(name="slow", namesrv=rocketmq.namesrv, created_at=timezone.now())
    settings = PollSettings(
        cadence=Cadence(0, 0),
        budget=Budget(100, 0),
        deadline_seconds=5.0,
        lake=Lake.at(str(tmp_path / "lake")),
        disk_floor_mib=0,
        samples=SampleBudget(0, 0, 0),
    )
    poller = ClusterPoller(cluster, settings)
    yield poller
    poller.close()


def watch(poller, java_admin):
    """Polls and produces until the faster clock has gone through MINUTES. Returns when it began.

    What a busy machine does too late is produced all the same: the consumer goes on by the clock.
    """
    began, sent = time.monotonic(), 0
    start = datetime.now(UTC)
    for number in range(MINUTES * 60 // POLL_SECONDS + 1):
        due = began + number * POLL_SECONDS / FASTER
        time.sleep(max(0.0, due - time.monotonic()))
        wanted = round((time.monotonic() - began) * FASTER * PRODUCED_PER_SECOND)
        java_admin.send(TOPIC, "broker-a", 0, wanted - sent)
        sent = wanted
        poller.poll(start + timedelta(seconds=(time.monotonic() - began) * FASTER))
    return start


def test_it_is_falling_behind_for_as_long_as_it_does(spark, poller, java_admin, rocketmq, rocketmq_jars, capsys):
    java_admin.create_topic(TOPIC, 1)
    java_admin.create_group(GROUP)
    member = {"group": GROUP, "topic": TOPIC, "instance": "slow-1", "orderly": True, "commit_milliseconds": 200}
    folder = rocketmq.home / "slow"
    consumers = [{**member, "hold_messages": 50, "seconds": [SECONDS_EACH, SECONDS_EACH]}]
    with CountingConsumers(rocketmq.namesrv, rocketmq_jars, folder, consumers) as counting:
        java_admin.send(TOPIC, "broker-a", 0, 1)
        while not counting.consumed():
            time.sleep(0.1)
        start = watch(poller, java_admin)

    said = []
    for before, minute in pairwise((0, *EVALUATED)):
        since, until = (start + timedelta(minutes=one) for one in (before, minute))
        run(spark, poller.settings.lake, ["slow"], since, until, Durations())
        queue = QueueState.objects.get(group__name=GROUP, queue__topic__name=TOPIC)
        said.append((minute, GroupState.objects.get(group__name=GROUP).state, queue.rule, queue.time_lag_seconds))
    with capsys.disabled():
        print("\nminute  state  rule  time lag", *said, sep="\n")
    far = [row for row in said if row[3] > 300]
    assert len(far) >= 3
    assert {row[1:3] for row in far} == {("WARN", "falling_behind")}
    lags = [row[3] for row in said]
    assert lags == sorted(lags)
