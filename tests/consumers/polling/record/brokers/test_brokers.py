"""What rows of masters and slaves keep of a reading."""

from dataclasses import replace

import pytest

from consumers.models import Broker, Cluster
from consumers.polling.reading import BrokerListing
from consumers.polling.record.brokers import record_brokers, record_reads
from tests.readings import T0, at, broker, reading

pytestmark = pytest.mark.django_db

SLAVE = "127.0.0.1:2"
ALONE = broker("broker-a")
REPLACED = replace(ALONE, read_from=SLAVE, master_error="connection refused")
FAILED = broker("broker-a", error="connection refused")


@pytest.fixture
def cluster():
    return Cluster.objects.create(name="prod", namesrv="a:1", created_at=T0)


def record(cluster, *parts):
    """One reading every 15 s."""
    for number, part in enumerate(parts):
        taken = reading(number * 15, part)
        listed = (*taken.listed, BrokerListing("broker-a", 1, SLAVE))
        record_brokers(cluster, replace(taken, listed=listed))
        record_reads(cluster, taken)
    return Broker.objects.get(broker_id=0), Broker.objects.get(broker_id=1)


def test_a_slave_in_the_place_of_its_master_makes_a_good_reading_that_says_so(cluster):
    master, slave = record(cluster, ALONE, REPLACED)
    assert (master.last_read_at, master.failing_since, master.reachable) == (at(15), None, False)
    assert (master.read_from, master.error) == (SLAVE, "connection refused")
    assert (slave.last_read_at, slave.reachable) == (at(15), True)


def test_a_slave_that_was_not_asked_is_neither_reachable_nor_unreachable(cluster):
    master, slave = record(cluster, REPLACED, ALONE)
    assert (master.read_from, master.error, master.reachable) == (None, None, True)
    assert (slave.last_read_at, slave.reachable) == (at(0), None)


def test_where_neither_answered_the_master_is_failing_since_then(cluster):
    master, _ = record(cluster, REPLACED, FAILED, FAILED)
    assert (master.last_read_at, master.failing_since, master.read_from) == (at(0), at(15), None)


def test_master_and_slave_are_of_the_cluster_that_the_name_server_lists_them_in(cluster):
    listed = tuple(BrokerListing("broker-a", pk, f"127.0.0.1:{1 + pk}", "DefaultCluster") for pk in (0, 1))
    record_brokers(cluster, replace(reading(0, ALONE), listed=listed))
    assert set(Broker.objects.values_list("cluster_name", flat=True)) == {"DefaultCluster"}


def test_a_broker_that_is_not_listed_is_still_of_the_cluster_that_it_was_of(cluster):
    taken = reading(0, ALONE)
    record_brokers(cluster, replace(taken, listed=(BrokerListing("broker-a", 0, "127.0.0.1:1", "DefaultCluster"),)))
    record_brokers(cluster, replace(reading(15, FAILED), listed=()))
    assert Broker.objects.get().cluster_name == "DefaultCluster"


def test_of_a_broker_that_was_never_listed_no_cluster_is_known(cluster):
    record_brokers(cluster, replace(reading(0, ALONE), listed=()))
    assert Broker.objects.get().cluster_name is None
