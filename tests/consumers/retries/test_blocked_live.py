"""Real members that do not finish a message: which one, and why, is told by what they say of themselves."""

import time

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.polling.heads import HeadLimits
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.retries.blocked import CLOCK_SLACK_SECONDS, blocked_queues
from consumers.retries.blocked_rows import BlockedKind
from tests.plugins.failing import ALWAYS, FailingProcess

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

ORDER, SLOW, LONG = "blocked-order", "blocked-slow", "blocked-long"
POISON, HELD, MESSAGES = 3, 2, 10
# By then it shows that a message is taken again and again: its member's clock is known to so many seconds.
STOOD_SECONDS = CLOCK_SLACK_SECONDS + 4
TOLD_SECONDS = 180


@pytest.fixture
def poller(rocketmq, tmp_path):
    cluster = Cluster.objects.create(name="blocked", namesrv=rocketmq.namesrv, created_at=timezone.now())
    settings = PollSettings(
        cadence=Cadence(0, 0),
        budget=Budget(1000, 1000),
        deadline_seconds=5.0,
        lake=Lake.at(str(tmp_path / "lake")),
        disk_floor_mib=0,
        heads=HeadLimits(seconds=2, calls=20),
    )
    poller = ClusterPoller(cluster, settings)
    yield poller
    poller.close()


@pytest.fixture
def members(rocketmq, rocketmq_jars, java_admin):
    for topic in (ORDER, SLOW):
        java_admin.create_topic(topic, 1)
        java_admin.send(topic, "broker-a", 0, MESSAGES)
    with FailingProcess(rocketmq, rocketmq_jars, "blocked") as process:
        process.start(ORDER, ORDER, [(MESSAGES, POISON, ALWAYS)], orderly=True)
        process.start(SLOW, SLOW, [], holds=[HELD], threads=4)
        process.start(LONG, ORDER, [], holds=[POISON], orderly=True)
        yield process


def poll_until_told(poller, settings):
    """The one blocked queue of each group, once all stand for long enough."""
    settings.CONSUMERSCOPE_BLOCKED_AFTER_SECONDS = STOOD_SECONDS
    deadline = time.monotonic() + TOLD_SECONDS
    while time.monotonic() < deadline:
        now = timezone.now()
        poller.poll(now)
        found = [blocked_queues("blocked", group, now) for group in (ORDER, SLOW, LONG)]
        if all(found):
            return [blocked for (blocked,) in found]
        time.sleep(2)
    raise AssertionError(f"not told within {TOLD_SECONDS} s: {found}")


def test_a_poison_message_and_slow_ones_are_told_apart(poller, members, settings):
    poison, slow, long = poll_until_told(poller, settings)
    assert (poison.kind, poison.offset, poison.message.keys) == (BlockedKind.ORDERLY_SUSPEND, POISON, f"key-{POISON}")
    assert (poison.behind, poison.finished_out_of_order) == (MESSAGES - POISON - 1, 0)
    assert sum(members.truth(ORDER).failed.values()) > 10
    assert poison.client_id in poison.sentence

    assert (slow.kind, slow.offset, slow.message.keys) == (BlockedKind.SLOW_MESSAGE, HELD, f"key-{HELD}")
    # What came after it is finished all the same.
    assert (slow.behind, slow.finished_out_of_order) == (0, MESSAGES - HELD - 1)
    assert members.truth(SLOW).delivered == {0: MESSAGES - 1}

    # Another group's failures on the same topic are not its own.
    assert (long.kind, long.offset) == (BlockedKind.SLOW_MESSAGE, POISON)
    assert {one.unknown.get("kind") for one in (poison, slow, long)} == {None}
