"""Retries that do not work stand on the overview, whatever the states of their groups: they hide behind an OK."""

import pytest
import time_machine
from django.test import Client

from consumers.models import ConsumerGroup, GroupBroker
from consumers.overview.queries import overview
from consumers.vocabulary.findings import FindingSeverity
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_queue, a_snapshot, a_total, ago

pytestmark = pytest.mark.django_db

OPEN = {"permission": 6, "config_at": ago(20), "routed_permission": 6, "routed_at": ago(20)}


@pytest.fixture
def _stopped():
    with time_machine.travel(NOW, tick=False):
        yield


def a_world(*, groups=1, broker=OPEN, **config):
    cluster = a_cluster()
    a_broker(cluster, **broker)
    queue = a_queue(cluster)
    for number in range(groups):
        group = a_group(cluster, f"group-{number}")
        a_total(group, 0)
        a_judged_group(group)
        a_snapshot(group, queue, 10, 10)
        values = {"configured": True, "consume_enable": True, "retry_queue_nums": 1, "changed_at": ago(3600)}
        values |= {"retry_permissions": {f"%RETRY%{group.name}": 6}, "retry_read_queues": 1}
        GroupBroker.objects.create(group=group, broker="broker-a", **(values | config))


def rows(cluster=None):
    found = overview(cluster=cluster, since=ago(3600), until=NOW, now=NOW).failing
    return [(row.group, row.broker, row.groups) for row in found]


@pytest.mark.parametrize(("permission", "expected"), [(4, [(None, "broker-a", 3)]), (6, []), (None, [])])
def test_a_broker_that_takes_no_messages_is_one_row_with_its_groups(permission, expected):
    a_world(groups=3, broker=OPEN | {"permission": permission})
    assert rows() == expected


def test_a_closed_broker_has_a_row_also_where_another_one_takes_what_fails():
    a_world(broker=OPEN | {"permission": 4})
    group = ConsumerGroup.objects.get()
    a_broker(group.cluster, "broker-b", **OPEN)
    said = {"configured": True, "retry_permissions": {"%RETRY%group-0": 6}, "changed_at": ago(3600)}
    GroupBroker.objects.create(group=group, broker="broker-b", **said)
    [row] = overview(since=ago(3600), until=NOW, now=NOW).failing
    assert (row.broker, row.severity) == ("broker-a", FindingSeverity.INFO)


def test_a_group_whose_failed_messages_are_discarded_has_a_row():
    a_world(retry_queue_nums=0)
    assert rows() == [("group-0", "broker-a", 1)]


def test_what_is_only_worth_a_warning_of_one_group_has_none():
    a_world(dlq_permission=2)
    assert rows() == []


def test_another_clusters_rows_are_not_shown():
    a_world(retry_queue_nums=0)
    a_cluster("other")
    assert rows("other") == []


@pytest.mark.usefixtures("_stopped")
def test_the_page_says_so_of_a_group_that_is_ok_and_leads_to_its_retries(admin_client: Client):
    a_world(retry_queue_nums=0)
    page = admin_client.get("/").text
    assert "silently discarded on broker-a: its retryQueueNums is 0" in page
    assert 'href="/groups/prod/group-0/retries/"' in page
    assert "No group has the health critical or warning" not in page


@pytest.mark.usefixtures("_stopped")
def test_the_page_names_a_closed_broker_once_and_leads_to_the_retries_of_its_cluster(admin_client: Client):
    a_world(groups=3, broker=OPEN | {"permission": 4})
    page = admin_client.get("/").text
    assert page.count("broker-a takes no messages: its brokerPermission is 4") == 1
    assert ">3 groups<" in page
    assert 'href="/retries/?cluster=prod"' in page


@pytest.mark.usefixtures("_stopped")
def test_where_all_works_the_page_does_not_speak_of_it(admin_client: Client):
    a_world()
    assert ConsumerGroup.objects.exists()
    assert "Retries that do not work" not in admin_client.get("/").text


@pytest.mark.usefixtures("_stopped")
def test_of_many_the_first_ten_are_shown_and_the_way_to_the_rest(admin_client: Client):
    a_world(groups=12, retry_queue_nums=0)
    page = admin_client.get("/").text
    assert page.count("silently discarded") == 10
    assert "and 2 more" in page
