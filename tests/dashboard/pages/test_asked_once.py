"""The database is asked once for an answer, however many of its parts show the same."""

from collections import Counter

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from consumers.models.asked_once import asked_once, one_answer
from consumers.queries.limits import broker_ages
from tests.world import a_broker, a_cluster, a_group, a_total

pytestmark = pytest.mark.django_db


def queries_of(client: Client, url: str) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200
    return [one["sql"] for one in queries]


@pytest.fixture
def billing():
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster, "billing")
    a_total(group, 40)
    return group


@pytest.mark.parametrize("tab", ["", "ownership/", "retries/", "offsets/"])
def test_a_page_of_a_group_asks_nothing_twice(viewer: Client, billing, tab):
    queries = Counter(queries_of(viewer, f"/groups/prod/billing/{tab}"))
    assert [query for query, times in queries.items() if times > 1] == []


def test_what_is_asked_once_is_asked_again_for_other_arguments_and_for_the_next_answer():
    asked = []

    @asked_once
    def squared(number, *, doubled=False):
        asked.append((number, doubled))
        return number * number * (2 if doubled else 1)

    for _ in range(2):
        with one_answer():
            assert [squared(3), squared(3, doubled=False), squared(3, doubled=True), squared(4)] == [9, 9, 18, 16]
    assert asked == [(3, False), (3, True), (4, False)] * 2


@pytest.mark.usefixtures("billing")
def test_outside_of_an_answer_they_are_read_whenever_somebody_asks():
    with CaptureQueriesContext(connection) as queries:
        assert broker_ages().keys() == broker_ages().keys()
    assert len(queries) == 4


def test_within_an_answer_each_cluster_has_its_own(billing):
    other = a_cluster("other")
    with one_answer():
        assert broker_ages().keys() == {billing.cluster_id, other.pk}
        assert broker_ages([other.pk]).keys() == {other.pk}
