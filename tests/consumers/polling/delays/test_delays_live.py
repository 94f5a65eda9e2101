"""Messages that a real member failed, on the delay levels of a real broker."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from consumers.lake.store import Lake
from consumers.models import Broker, Cluster, DelayLevel, Rung
from consumers.polling.delay_answers import DelayLimits
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.polling.samples.reading import SampleBudget
from consumers.retries.broker_levels import LATE_SECONDS
from consumers.retries.ladder import ladder_of
from consumers.rocketmq.wire.codes import RequestCode
from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import JavaAdmin

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

GROUP, TOPIC, FAILED, LEVEL = "delayed-failing", "DelayedOrders", 6, 3
TEN_SECONDS = timedelta(seconds=10)


@pytest.fixture
def poller(rocketmq: RocketMQ, tmp_path: Path) -> Iterator[ClusterPoller]:
    cluster = Cluster.objects.create(name="delayed", namesrv=rocketmq.namesrv, created_at=datetime.now(UTC))
    settings = PollSettings(
        cadence=Cadence(0, 60),
        budget=Budget(0, 0),
        deadline_seconds=5.0,
        lake=Lake.at(str(tmp_path)),
        disk_floor_mib=0,
        samples=SampleBudget(0, 0, 0),
        delays=DelayLimits(sample_seconds=0),
    )
    poller = ClusterPoller(cluster, settings)
    yield poller
    poller.close()


@pytest.fixture
def failed_at(java_admin: JavaAdmin) -> Iterator[datetime]:
    """When a member began to fail messages that it was sent; it is gone before the first of them comes again."""
    java_admin.create_topic(TOPIC, 1)
    java_admin.create_group(GROUP, retry_max_times=1)
    java_admin.set_offset(GROUP, TOPIC, "broker-a", 0, 0)
    java_admin.send(TOPIC, "broker-a", 0, FAILED)
    before = datetime.now(UTC)
    java_admin.start_consumer(GROUP, TOPIC, f"{GROUP}-1", consume="none")
    yield before
    java_admin.stop_consumer(f"{GROUP}-1")


def schedule_offsets(admin: JavaAdmin) -> tuple[int, int]:
    """Of the level: delivered up to, and its end, as the broker tells RocketMQ's own client.

    Its runtime values leave a level out until the delivery service has come by once (`buildRunningStats` of
    ScheduleMessageService, 5.4.0): up to 100 ms after its first message. Nothing has been delivered then.
    """
    end = admin.queue_end("SCHEDULE_TOPIC_XXXX", "broker-a", LEVEL - 1)
    table = json.loads(admin.ask("broker-a", RequestCode.GET_BROKER_RUNTIME_INFO))["table"]
    return int(table.get(f"scheduleMessageOffset_{LEVEL}", "0,0").split(",")[0]), end


def test_failed_messages_wait_on_the_level_of_their_retry(
    poller: ClusterPoller, failed_at: datetime, java_admin: JavaAdmin
) -> None:
    deadline = time.monotonic() + 120
    while not (seen := Rung.objects.filter(group__name=GROUP, messages=FAILED)) and time.monotonic() < deadline:
        before = schedule_offsets(java_admin)
        poller.poll(datetime.now(UTC))
    after = schedule_offsets(java_admin)

    [rung] = seen
    assert (rung.broker, rung.level, rung.attempts) == ("broker-a", LEVEL, {"1": FAILED})
    assert failed_at - timedelta(seconds=1) < rung.oldest_stored_at < datetime.now(UTC)
    assert rung.next_due_at == rung.oldest_stored_at + TEN_SECONDS

    level = DelayLevel.objects.get(level=LEVEL)
    assert before[0] <= level.delay_offset <= after[0]
    assert before[1] <= level.broker_offset <= after[1]
    assert (level.looked_at, level.sample_error, level.next_error) == (level.sampled_of, None, None)
    assert level.next_due_at is not None
    assert level.next_due_at <= rung.next_due_at

    broker = Broker.objects.get(broker_id=0)
    assert (broker.delay_levels or "").startswith("1s 5s 10s 30s 1m ")
    assert (broker.delays_error, broker.wheel) == (None, None)
    # The shared broker has its timer wheel switched off.
    assert (broker.wheel_error or "").endswith("The timer message store is null")

    ladder = ladder_of("delayed", GROUP, datetime.now(UTC))
    told = ladder.rungs[LEVEL - 1]
    assert (told.level, told.delay_seconds, told.retry) == (LEVEL, 10, 1)
    # Messages of any group wait there, and one that is just due has not been delivered yet.
    assert told.overdue_seconds is not None
    assert 0 <= told.overdue_seconds <= LATE_SECONDS
    assert told.sampled is not None
    assert (told.sampled.messages, dict(told.sampled.attempts)) == (FAILED, {1: FAILED})
    # One retry is allowed: if it fails, they are dead.
    assert (ladder.last_attempts.messages, ladder.last_attempts.max_retries) == (FAILED, 1)
    assert (list(ladder.findings), ladder.wheel.messages) == ([], None)
    assert "timer message store is null" in ladder.wheel.unknown["messages"]
