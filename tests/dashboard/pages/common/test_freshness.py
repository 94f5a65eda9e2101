import pytest

from consumers.clusters.summaries import cluster_summaries
from dashboard.pages.common.frame import Freshness, freshness_of
from tests.world import NOW, a_broker, a_cluster, a_dead_broker, ago

pytestmark = pytest.mark.django_db


def freshness() -> Freshness:
    return freshness_of(cluster_summaries(NOW), NOW)


def test_it_tells_the_age_of_the_reading_and_how_many_brokers_were_read() -> None:
    cluster = a_cluster(read_at=ago(6))
    a_broker(cluster)
    a_broker(cluster, "broker-b")
    assert freshness().text == "scraped 6 s ago · 2 of 2 brokers"
    assert freshness().level == "fresh"


def test_it_is_silent_when_a_broker_is() -> None:
    cluster = a_cluster(read_at=ago(6))
    a_broker(cluster)
    a_dead_broker(cluster)
    assert freshness().text == "scraped 6 s ago · 1 of 2 brokers"
    assert freshness().level == "silent"


def test_it_is_late_when_a_reading_was_missed() -> None:
    a_broker(a_cluster(read_at=ago(40)), last_read_at=ago(40))
    assert freshness().level == "late"


def test_the_oldest_cluster_stands_for_all() -> None:
    for name, seconds in (("first", 3), ("second", 9)):
        a_broker(a_cluster(name, read_at=ago(seconds)))
    assert freshness().text.startswith("scraped 9 s ago")


def test_a_cluster_that_was_never_read_has_no_age() -> None:
    a_cluster(read_at=None)
    assert freshness().text.startswith("not scraped yet")


def test_a_cluster_whose_brokers_nobody_listed_is_named_beside_those_that_were_read() -> None:
    a_broker(a_cluster("prod", read_at=ago(3)))
    a_cluster("drill", read_at=ago(3))
    found = freshness()
    assert found.text == "scraped 3 s ago · 1 of 1 broker · no broker listed for drill"
    line = found.lines[0]
    assert (line.cluster, line.broker, line.problem) == ("drill", "", "no broker listed")


def test_several_clusters_without_brokers_are_counted() -> None:
    for name in ("drill", "spare"):
        a_cluster(name, read_at=ago(3))
    assert freshness().text.endswith("no broker listed for 2 clusters")


def test_without_a_cluster_it_says_so() -> None:
    assert freshness().text == "no cluster is registered"
