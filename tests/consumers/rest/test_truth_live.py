"""Every lag that REST gives, against offsets that RocketMQ's own classes set on a real broker."""

import re

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

# group → topic → per queue (messages, consumed)
TRUTH = {
    "resttruth-even": {"RestTruthA": [(5, 5), (7, 7)], "RestTruthB": [(3, 3)]},
    "resttruth-late": {"RestTruthA": [(5, 1), (7, 0)], "%RETRY%resttruth-late": [(4, 1)]},
}


@pytest.fixture(scope="module")
def truth(java_admin):
    for topic, queues in {t: q for topics in TRUTH.values() for t, q in topics.items()}.items():
        java_admin.create_topic(topic, len(queues))
        for queue_id, (messages, _) in enumerate(queues):
            java_admin.send(topic, "broker-a", queue_id, messages)
    for group, topics in TRUTH.items():
        java_admin.create_topic(f"%RETRY%{group}", 1)
        java_admin.create_group(group)
        for topic, queues in topics.items():
            for queue_id, (_, consumed) in enumerate(queues):
                java_admin.set_offset(group, topic, "broker-a", queue_id, consumed)
    # A queue that is never committed: REST must not call it lag.
    java_admin.create_topic("RestTruthC", 2)
    java_admin.send("RestTruthC", "broker-a", 0, 2)
    java_admin.send("RestTruthC", "broker-a", 1, 9)
    java_admin.create_group("resttruth-half")
    java_admin.set_offset("resttruth-half", "RestTruthC", "broker-a", 0, 1)


@pytest.fixture
def rest(truth, rocketmq, tmp_path, settings):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    cluster = Cluster.objects.create(name="truth", namesrv=rocketmq.namesrv, created_at=timezone.now())
    lake = Lake.at(settings.CONSUMERSCOPE_LAKE)
    poller = ClusterPoller(cluster, PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, lake, 0))
    assert poller.poll(timezone.now()).offsets.complete
    poller.close()
    client = APIClient()
    client.force_authenticate(User.objects.create(username="viewer"))

    def get(path, **query):
        answer = client.get(f"/api/v1/{path}", query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return get


def rows(answer):
    return answer["results"] if isinstance(answer, dict) else answer


@pytest.mark.parametrize("group", TRUTH)
def test_every_lag_of_every_queue_is_the_truth(rest, group):
    queues = rows(rest(f"groups/truth/{group}/queues/"))
    read = {(q["topic"], q["queue_id"]): (q["broker_offset"], q["consumer_offset"], q["lag_messages"]) for q in queues}
    expected = {
        (topic, queue_id): (messages, consumed, messages - consumed)
        for topic, values in TRUTH[group].items()
        for queue_id, (messages, consumed) in enumerate(values)
    }
    assert {key: read.get(key) for key in expected} == expected


@pytest.mark.parametrize("group", TRUTH)
def test_the_group_total_equals_mqadmins(rest, rocketmq, group):
    said = rocketmq.mqadmin("consumerProgress", "-g", group)
    total = int(re.search(r"Consume Diff Total: (-?\d+)", said).group(1))
    assert rest(f"groups/truth/{group}/")["lag_messages"] == total


def test_a_queue_that_was_never_committed_is_no_lag_and_is_counted_apart(rest):
    group = rest("groups/truth/resttruth-half/")
    assert (group["lag_messages"], group["never_committed_queues"]) == (1, 1)
    never = next(q for q in rows(rest("groups/truth/resttruth-half/queues/")) if q["queue_id"] == 1)
    assert (never["lag_messages"], never["consumer_offset"], never["unknown_reason"]) == (None, None, "never committed")
