"""The brokers are read once for an answer, however many of its parts ask for them."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from consumers.queries.limits import broker_ages, brokers_read_once
from tests.world import a_broker, a_cluster, a_group, a_total

pytestmark = pytest.mark.django_db


def readings_of_brokers(client: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200
    return sum('AS "newest_brokers"' in one["sql"] for one in queries)


@pytest.fixture
def billing():
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster, "billing")
    a_total(group, 40)
    return group


@pytest.mark.parametrize("tab", ["", "ownership/", "retries/", "offsets/"])
def test_a_page_of_a_group_reads_them_once(viewer: Client, billing, tab):
    assert readings_of_brokers(viewer, f"/groups/prod/billing/{tab}") == 1


@pytest.mark.usefixtures("billing")
def test_outside_of_an_answer_they_are_read_whenever_somebody_asks():
    with CaptureQueriesContext(connection) as queries:
        assert broker_ages().keys() == broker_ages().keys()
    assert len(queries) == 4


def test_within_an_answer_each_cluster_has_its_own(billing):
    other = a_cluster("other")
    with brokers_read_once():
        assert broker_ages().keys() == {billing.cluster_id, other.pk}
        assert broker_ages([other.pk]).keys() == {other.pk}
