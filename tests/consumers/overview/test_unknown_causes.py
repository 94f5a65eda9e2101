"""One cause is one row that names it and counts its groups, however many they are."""

import pytest
import time_machine
from django.test import Client

from consumers.models import Reading
from consumers.overview.queries import overview
from consumers.overview.tally import EVALUATION_LATE, NOT_POLLED
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_queue,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db
NO_NAME_SERVER = "no name server answers: 127.0.0.1:9876: connection refused"


def groups_on(cluster, count=3, broker="broker-a", **judged):
    for number in range(count):
        group = a_group(cluster, f"group-{broker}-{number}")
        a_snapshot(group, a_queue(cluster, "Orders", broker=broker), 1, 4)
        a_total(group, 3)
        a_judged_group(group, **judged)


def the_causes():
    causes = overview(since=ago(3600), until=NOW, now=NOW).causes
    return [(cause.cause, cause.cluster, cause.broker, cause.groups, cause.since) for cause in causes]


def test_a_dead_broker():
    cluster = a_cluster()
    a_broker(cluster)
    a_dead_broker(cluster, since=ago(400))
    groups_on(cluster, broker="broker-b")
    groups_on(cluster)
    assert the_causes() == [("broker-b could not be read: connection refused", "prod", "broker-b", 3, ago(400))]


def test_every_broker_dead():
    cluster = a_cluster()
    for name in ("broker-a", "broker-b"):
        a_dead_broker(cluster, name)
        groups_on(cluster, broker=name)
    reason = "none of the 2 brokers is read; broker-a could not be read: connection refused"
    assert the_causes() == [(reason, "prod", "broker-a", 6, ago(300))]


def test_the_name_servers_are_gone_and_no_broker_is_remembered():
    cluster = a_cluster(read_at=None)
    Reading.objects.create(
        cluster=cluster, taken_at=ago(5), complete=False, error=NO_NAME_SERVER, queues=0, calls=1, bytes=0, seconds=5
    )
    for name in ("broker-a", "broker-b"):
        a_broker(cluster, name, last_read_at=ago(90))
        groups_on(cluster, broker=name)
    assert the_causes() == [(NO_NAME_SERVER, "prod", None, 6, ago(90))]


def test_the_poll_worker_stopped():
    for name in ("prod", "staging"):
        cluster = a_cluster(name, read_at=ago(600))
        a_broker(cluster, last_read_at=ago(600))
        a_broker(cluster, "broker-b", last_read_at=ago(600))
        groups_on(cluster)
    assert the_causes() == [(NOT_POLLED, "prod, staging", None, 6, ago(600))]


def test_one_cluster_that_is_not_polled_is_no_cause_for_another():
    a_broker(a_cluster("staging"))
    cluster = a_cluster(read_at=ago(600))
    a_broker(cluster, last_read_at=ago(600))
    groups_on(cluster)
    assert the_causes() == [(NOT_POLLED, "prod", None, 3, ago(600))]


def test_the_pipeline_stopped():
    for name in ("prod", "staging"):
        cluster = a_cluster(name)
        a_broker(cluster)
        groups_on(cluster, judged_at=ago(3600))
    assert the_causes() == [(EVALUATION_LATE, "prod, staging", None, 6, ago(3600))]


def test_groups_unknown_by_the_same_rule():
    cluster = a_cluster()
    a_broker(cluster)
    groups_on(cluster, state="UNKNOWN", rule="lag_unknown", since=ago(700))
    assert the_causes() == [("lag unknown", "prod", None, 3, ago(700))]


@pytest.mark.usefixtures("_stopped")
def test_the_page_shows_the_one_row(admin_client: Client):
    cluster = a_cluster(read_at=ago(600))
    a_broker(cluster, last_read_at=ago(600))
    groups_on(cluster, count=40)
    page = admin_client.get("/").text
    assert page.count("the cluster is not polled: the poll worker lags or does not run") == 1
    assert ">40 groups<" in page
    assert page.count('class="attention"') == 0


@pytest.fixture
def _stopped():
    with time_machine.travel(NOW, tick=False):
        yield
