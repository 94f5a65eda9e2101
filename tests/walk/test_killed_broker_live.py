"""The walk with real brokers: one is killed, and nothing of it is said, by no face."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.urls import urlpatterns
from tests.exposition_parser import parsed
from tests.walk.addresses import named, resources
from tests.walk.documents import LIES, Leaf, leaves
from tests.walk.page_text import zeros

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

BROKERS = ("broker-a", "broker-b")
NAMES = {"cluster": "walked", "group": "walkedgroup"}


@pytest.fixture
def commit(java_admin_pair):
    """Two of five messages or more are consumed on each broker."""
    java_admin_pair.create_topic("Walked", 1)
    java_admin_pair.create_group("walkedgroup")
    for broker in BROKERS:
        java_admin_pair.send("Walked", broker, 0, 5)

    def commit(offset=2, broker="broker-a"):
        java_admin_pair.set_offset("walkedgroup", "Walked", broker, 0, offset)

    commit()
    commit(broker="broker-b")
    return commit


@pytest.fixture
def poller(rocketmq_pair, tmp_path, settings):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    cluster = Cluster.objects.create(name="walked", namesrv=rocketmq_pair.namesrv, created_at=timezone.now())
    poller = ClusterPoller(cluster, PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, Lake.at(str(tmp_path)), 0))
    yield poller
    poller.close()


@pytest.fixture
def client():
    client = Client()
    client.force_login(User.objects.create(username="viewer"))
    return client


def walk(client: Client) -> list[Leaf]:
    """Every field, but those of groups that other tests left on the living broker: their zeros are read."""
    found = [
        leaf for path in resources(named(urlpatterns, NAMES), NAMES) for leaf in leaves(path, client.get(path).json())
    ]
    return [leaf for leaf in found if leaf.beside.get("group", NAMES["group"]) == NAMES["group"]]


def test_nothing_is_said_of_a_broker_that_was_killed(poller, commit, client, rocketmq_pair):
    taken_at = poller.poll(timezone.now()).row.taken_at
    before = client.get("/api/v1/groups/walked/walkedgroup/queues/").json()["results"]
    lags = {queue["broker"]: queue["lag_messages"] for queue in before if queue["topic"] == "Walked"}
    assert min(lags["broker-a"], lags["broker-b"]) >= 3
    rocketmq_pair.kill_broker("broker-b")
    with time_machine.travel(taken_at + timedelta(seconds=60)):
        poller.poll(timezone.now())
        walked = walk(client)
        page = client.get("/groups/walked/walkedgroup/").text
        metrics = parsed(b"".join(client.get("/metrics").streaming_content).decode())
    told = {leaf.name: leaf.value for leaf in walked if leaf.path.endswith("walkedgroup/") and leaf.inside == ""}
    assert (told["lag_messages"], told["lag_messages_at_least"]) == (None, lags["broker-a"])
    assert told["state"] == "UNKNOWN"
    # What the living broker says may be zero; beside it only what is known without any broker.
    lies = {
        (lie.__name__, *leaf.place)
        for lie in LIES
        for leaf in lie([leaf for leaf in walked if _broker_of(leaf) != "broker-a"], "dead_broker")
        if leaf.name != "queue_id"
    }
    assert lies == set()
    queue = [leaf for leaf in walked if leaf.beside.get("broker") == "broker-b" and "/queues/" in leaf.path]
    assert {leaf.name for leaf in queue if type(leaf.value) in (int, float)} == {"queue_id"}
    unlinked = re.sub(r"</?a\b[^>]*>", "", page)
    rows = re.findall(r"<tr>\s*<th[^>]*>Walked / broker-b / 0</th>.*?</tr>", unlinked, re.DOTALL)
    facts = re.findall(r'<dl class="facts">.*?</dl>', page, re.DOTALL)
    assert rows
    assert facts
    # The queue's own name ends in its id.
    assert [zero for html in (*rows, *facts) for zero in zeros(html.replace("broker-b / 0", "broker-b"))] == []
    assert "last success" in rows[0]
    of_group = [(name, labels) for name, labels in metrics if ("group", "walkedgroup") in labels]
    numbers = {name for name, labels in of_group if ("broker", "broker-a") not in labels}
    assert numbers == {
        # Its checks lack what the broker knows: not_checked, or unknown.
        "consumerscope_finding",
        "consumerscope_group_health",
        "consumerscope_group_lag_messages_at_least",
        "consumerscope_group_state",
        "consumerscope_unknown",
    }
    assert metrics["consumerscope_broker_up", frozenset({("cluster", "walked"), ("broker", "broker-b")})] == 0


def test_an_offset_ahead_of_its_broker_is_named_and_no_lag(poller, commit, client):
    commit(99)
    poller.poll(timezone.now())
    seen = client.get("/api/v1/groups/walked/walkedgroup/").json()
    [anomaly] = [found for found in seen["anomalies"] if found["name"] == "consumer_ahead"]
    assert (anomaly["topic"], anomaly["broker"], anomaly["queue_ids"]) == ("Walked", "broker-a", [0])
    assert re.search(r"ahead of the broker offset, by up to \d+ messages", anomaly["sentence"])
    assert seen["lag_messages"] is None


def _broker_of(leaf: Leaf) -> str | None:
    of_broker = leaf.beside.get("name") if leaf.inside == "brokers" else None
    return of_broker or leaf.beside.get("broker") or leaf.above.get("broker")
