"""`manage.py cluster`: what is watched."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from consumers.models import Cluster
from consumers.polling.locks import lock
from tests.world import a_broker, a_cluster, a_dead_broker

pytestmark = pytest.mark.django_db


def cluster(*args):
    out = StringIO()
    call_command("cluster", *args, stdout=out)
    return out.getvalue()


def test_it_adds_a_cluster_without_connecting():
    assert cluster("add", "prod", "--namesrv", "10.0.0.1:9876;10.0.0.2:9876").startswith("Cluster prod added")
    assert Cluster.objects.get(name="prod").name_servers == ["10.0.0.1:9876", "10.0.0.2:9876"]


def test_it_changes_the_name_servers_of_a_known_cluster():
    cluster("add", "prod", "--namesrv", "10.0.0.1:9876")
    assert cluster("add", "prod", "--namesrv", "10.0.0.9:9876").startswith("Cluster prod changed")
    assert Cluster.objects.get().namesrv == "10.0.0.9:9876"


@pytest.mark.parametrize("namesrv", ["", "nowhere", "host:port", "host:0", "host:70000", ";"])
def test_it_refuses_an_address_that_is_none(namesrv):
    with pytest.raises(CommandError, match="--namesrv"):
        cluster("add", "prod", "--namesrv", namesrv)
    assert not Cluster.objects.exists()


def test_it_lists_clusters_or_says_how_to_add_one():
    assert "manage.py cluster add" in cluster("list")
    cluster("add", "prod", "--namesrv", "10.0.0.1:9876")
    assert cluster("list") == "prod\t10.0.0.1:9876\n"


def test_it_removes_a_cluster():
    cluster("add", "prod", "--namesrv", "10.0.0.1:9876")
    cluster("remove", "prod")
    assert not Cluster.objects.exists()


def test_it_says_when_there_is_no_such_cluster_to_remove():
    with pytest.raises(CommandError, match="no cluster 'prod'"):
        cluster("remove", "prod")


def test_it_forgets_a_broker_that_is_gone():
    prod = a_cluster()
    a_dead_broker(prod, "broker-b")
    assert cluster("forget-broker", "prod", "broker-b") == (
        "broker-b of prod forgotten, with 0 queues. A name server that still lists it brings it back.\n"
    )
    assert not prod.brokers.exists()


def test_it_says_why_a_broker_is_not_forgotten():
    a_broker(a_cluster())
    with pytest.raises(CommandError, match="only a broker that does not answer"):
        cluster("forget-broker", "prod", "broker-a")
    with pytest.raises(CommandError, match="no cluster 'test'"):
        cluster("forget-broker", "test", "broker-a")


def test_it_waits_for_a_reading_that_is_under_way():
    a_dead_broker(a_cluster(), "broker-b")
    with lock("poll:prod", 30), pytest.raises(CommandError, match="being read"):
        cluster("forget-broker", "prod", "broker-b")
