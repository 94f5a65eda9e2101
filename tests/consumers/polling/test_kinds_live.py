"""Kinds of groups with real members: who subscribes to what, who is gone, who says so."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Broker, Cluster, ConsumerGroup
from consumers.polling.flags import retired_topics
from consumers.polling.kind_limits import KindLimits
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]
BOTH_DEADLINE_SECONDS = 240


@pytest.fixture
def poller(rocketmq, tmp_path):
    cluster = Cluster.objects.create(name="kinds", namesrv=rocketmq.namesrv, created_at=timezone.now())
    settings = PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, Lake.at(str(tmp_path / "lake")), 0)
    poller = ClusterPoller(cluster, settings)
    yield poller
    poller.close()


@pytest.fixture
def members(java_admin):
    """Two members of one group that disagree: each subscribes to a topic of its own."""
    for topic in ("kinds_old", "kinds_new"):
        java_admin.create_topic(topic, 1)
        java_admin.send(topic, "broker-a", 0, 6)
    for instance, topic in (("kinds-old", "kinds_old"), ("kinds-new", "kinds_new")):
        java_admin.start_consumer("kinds_group", topic, instance)
    java_admin.set_offset("kinds_group", "kinds_old", "broker-a", 0, 2)
    running = {"kinds-old", "kinds-new"}
    yield running
    for instance in running:
        java_admin.stop_consumer(instance)


def the_group():
    return ConsumerGroup.objects.get(name="kinds_group")


def poll_until(poller, is_so):
    """Polls until the group is so: its members register and commit when they will."""
    deadline = time.monotonic() + BOTH_DEADLINE_SECONDS
    while True:
        now = timezone.now()
        poller.poll(now)
        if ConsumerGroup.objects.filter(name="kinds_group").exists() and is_so(the_group()):
            return now
        assert time.monotonic() < deadline, vars(the_group())
        time.sleep(1)


def test_a_topic_is_retired_once_no_member_that_is_left_subscribes_to_it(poller, members, java_admin):
    poll_until(poller, lambda group: group.members == 2 and _told(group) == 2)
    # The broker tells the subscription of one of the two; the members themselves tell both.
    assert len({one["topic"] for one in the_group().subscriptions} & {"kinds_old", "kinds_new"}) == 1
    assert the_group().unsubscribed == {}

    java_admin.stop_consumer("kinds-old")
    members.remove("kinds-old")
    now = poll_until(poller, lambda group: group.members == 1 and group.unsubscribed != {})

    assert list(the_group().unsubscribed) == ["kinds_old"]
    assert retired_topics(the_group(), now, KindLimits()) == {}
    later = now + timedelta(seconds=601)
    poller.poll(later)
    assert list(retired_topics(the_group(), later, KindLimits())) == ["kinds_old"]
    assert the_group().total.retired_queues == 1


def test_it_is_offline_since_its_last_member_went(poller, members, java_admin):
    began = poll_until(poller, lambda group: group.members == 2)
    for instance in sorted(members):
        java_admin.stop_consumer(instance)
    members.clear()
    gone = poll_until(poller, lambda group: group.online is False)
    poller.poll(timezone.now())
    assert the_group().offline_since == gone > began


def test_the_broker_says_how_long_it_keeps_messages(poller):
    poller.poll(timezone.now())
    row = Broker.objects.get(name="broker-a")
    assert (row.file_reserved_hours, row.permission, row.config_error) == (72, 6, None)


def _told(group):
    return group.clients.filter(gone_by=None, subscriptions__isnull=False).count()
