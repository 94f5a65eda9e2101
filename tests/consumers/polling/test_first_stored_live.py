"""When first unconsumed messages were stored, as two polls tell, beside the producer's own record of its sends."""

import time
from datetime import UTC, datetime

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster, QueueSnapshot
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.vocabulary.times import EPOCH

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

TOPIC, GROUP = "FirstStored", "first-stored"
# Between two polls.
MESSAGES = 6
# A broker answers a little after the time that a reading has.
LATE_SECONDS = 0.5


@pytest.fixture
def poller(rocketmq, java_admin, tmp_path):
    java_admin.create_topic(TOPIC, 1)
    java_admin.create_group(GROUP)
    cluster = Cluster.objects.create(name="stored", namesrv=rocketmq.namesrv, created_at=timezone.now())
    lake = Lake.at(str(tmp_path))
    poller = ClusterPoller(cluster, PollSettings(Cadence(0, 0), Budget(0, 0), 5.0, lake, disk_floor_mib=0))
    yield poller
    poller.close()


def epoch(moment):
    return (moment - EPOCH).total_seconds()


def sent_messages(java_admin):
    """The moments before and after each was sent."""
    sent = []
    for number in range(MESSAGES):
        before = epoch(datetime.now(UTC))
        java_admin.send(TOPIC, "broker-a", 0)
        sent.append((before, epoch(datetime.now(UTC))))
        time.sleep(0.1 + 0.1 * (number % 3))
    return sent


def committed_and_polled(java_admin, poller, offset):
    """The moment of the poll, and when it says that the message at the offset was stored."""
    java_admin.set_offset(GROUP, TOPIC, "broker-a", 0, offset)
    now = datetime.now(UTC)
    poller.poll(now)
    found = QueueSnapshot.objects.get(group__name=GROUP, queue__topic__name=TOPIC)
    assert found.consumer_offset == offset
    return epoch(now), found.first_stored_us and found.first_stored_us / 1e6


def test_a_message_was_stored_when_two_polls_say(poller, java_admin):
    sent = sent_messages(java_admin)
    before, stored = committed_and_polled(java_admin, poller, 0)
    assert stored is None
    for number in range(MESSAGES - 1):
        offset = len(sent) + number
        sent += sent_messages(java_admin)
        polled_at, stored = committed_and_polled(java_admin, poller, offset)
        gap, (earliest, latest) = polled_at - before + LATE_SECONDS, sent[offset]
        assert before <= stored < polled_at
        assert earliest - gap <= stored <= latest + gap
        before = polled_at
    # The poll before had this one, and nobody knows for how long.
    sent += sent_messages(java_admin)
    assert committed_and_polled(java_admin, poller, len(sent) - MESSAGES - 1)[1] is None
