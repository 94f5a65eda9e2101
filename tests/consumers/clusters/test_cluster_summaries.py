"""What every page says of each cluster is what the list of clusters says of it."""

from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consumers.clusters.queries import cluster_list
from consumers.clusters.summaries import ClusterSummary, cluster_summaries
from tests.world import NOW, a_broker, a_cluster, a_dead_broker, a_reading, ago

pytestmark = pytest.mark.django_db


def fresh() -> None:
    a_broker(a_cluster())


def dead() -> None:
    cluster = a_cluster()
    a_broker(cluster, "broker-a", broker_id=1, last_read_at=None, reachable=None)
    a_broker(cluster)
    a_dead_broker(cluster)


def overdue() -> None:
    a_broker(a_cluster(read_at=ago(50)), last_read_at=ago(50))


def long_ago() -> None:
    a_broker(a_cluster(read_at=ago(7200)), last_read_at=ago(7200))


def from_a_slave() -> None:
    a_broker(a_cluster(), read_from="10.0.0.9:10911")


def never_read() -> None:
    a_broker(a_cluster(read_at=None), last_read_at=None)


def clock_set_back() -> None:
    cluster = a_cluster(read_at=ago(30))
    a_broker(cluster, last_read_at=ago(-600))
    a_reading(cluster, ago(-600))


def only_in_the_future() -> None:
    a_broker(a_cluster(read_at=ago(-600)), last_read_at=ago(-600))


def several() -> None:
    for name, seconds in (("prod", 3), ("test", 9), ("a-third", 40)):
        a_broker(a_cluster(name, read_at=ago(seconds)), last_read_at=ago(seconds))


WORLDS = (fresh, dead, overdue, long_ago, from_a_slave, never_read, clock_set_back, only_in_the_future, several)


def of_list(now: datetime) -> list[tuple[Any, ...]]:
    return [
        (
            row.name,
            row.freshness,
            row.last_reading.taken_at if row.last_reading else None,
            row.brokers_read,
            row.brokers_listed,
            [(one.name, one.last_read_at, one.error or one.note or "") for one in row.brokers if one.id == 0],
        )
        for row in cluster_list(now)
    ]


def in_short(row: ClusterSummary) -> tuple[Any, ...]:
    masters = [(one.name, one.last_read_at, one.problem) for one in row.masters]
    return row.name, row.freshness, row.read_at, row.brokers_read, len(row.masters), masters


@pytest.mark.parametrize("world", WORLDS)
def test_they_say_the_same_as_the_list(world: Any) -> None:
    world()
    assert [in_short(row) for row in cluster_summaries(NOW)] == of_list(NOW)


def test_a_broker_that_was_not_asked_for_want_of_a_name_server_has_that_as_its_problem() -> None:
    cluster = a_cluster()
    a_broker(cluster, last_read_at=ago(20))
    a_reading(cluster, ago(2), complete=False, queues=0, error="no name server answered")
    [row] = cluster_summaries(NOW)
    assert [one.problem for one in row.masters] == ["no name server answered"]


def test_they_take_two_queries_however_many_readings_there_are() -> None:
    cluster = a_cluster()
    a_broker(cluster)
    for seconds in range(15, 600, 15):
        a_reading(cluster, ago(seconds))
    with CaptureQueriesContext(connection) as queries:
        cluster_summaries(NOW)
    assert len(queries) == 2
