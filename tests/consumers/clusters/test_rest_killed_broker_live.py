"""REST while a real broker is killed and comes back."""

from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

BROKERS = ("broker-a", "broker-b")


@pytest.fixture
def commit(java_admin_pair):
    """Two of five messages are consumed on each broker. A broker that is killed forgets that, and is told again."""
    java_admin_pair.create_topic("KilledBroker", 1)
    java_admin_pair.create_group("killedbroker")
    for broker in BROKERS:
        java_admin_pair.send("KilledBroker", broker, 0, 5)

    def commit():
        for broker in BROKERS:
            java_admin_pair.set_offset("killedbroker", "KilledBroker", broker, 0, 2)

    commit()
    return commit


@pytest.fixture
def poller(rocketmq_pair, tmp_path, settings):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    cluster = Cluster.objects.create(name="pair", namesrv=rocketmq_pair.namesrv, created_at=timezone.now())
    poller = ClusterPoller(cluster, PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, Lake.at(str(tmp_path)), 0))
    yield poller
    poller.close()


@pytest.fixture
def get():
    client = APIClient()
    client.force_authenticate(User.objects.create(username="viewer"))
    return lambda path: client.get(f"/api/v1/groups/pair/killedbroker/{path}").json()


def test_a_killed_brokers_queues_are_unknown_with_the_last_good_time_until_it_is_back(
    poller, commit, get, rocketmq_pair
):
    taken_at = poller.poll(timezone.now()).row.taken_at
    assert get("")["lag_messages"] == 6
    rocketmq_pair.kill_broker("broker-b")
    with time_machine.travel(taken_at + timedelta(seconds=60)):
        poller.poll(timezone.now())
        queues = {queue["broker"]: queue for queue in get("queues/")["results"]}
        group = get("")
    assert (queues["broker-b"]["state"], queues["broker-b"]["lag_messages"]) == ("UNKNOWN", None)
    assert "broker-b" in queues["broker-b"]["unknown_reason"]
    assert queues["broker-b"]["taken_at"] == taken_at.isoformat().replace("+00:00", "Z")
    assert queues["broker-a"]["lag_messages"] == 3
    assert (group["lag_messages"], group["lag_messages_at_least"]) == (None, 3)
    rocketmq_pair.start_broker("broker-b")
    commit()
    poller.poll(timezone.now())
    assert get("")["lag_messages"] == 6
