"""Who is asked when the budget does not reach for all."""

from dataclasses import replace

import pytest

from consumers.models import Client, Cluster
from consumers.polling.members.collected import KnownGroup, KnownMember, rotation
from consumers.polling.members.membership import AskedBroker
from consumers.polling.memory import ClusterMemory
from consumers.polling.poll import asked_brokers, remember_subscriptions, remembered
from tests.readings import T0, at, broker, group_members, members, reading


@pytest.mark.django_db
def test_groups_that_were_never_asked_come_before_the_longest_unasked():
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    for name, asked_at in (("late", at(30)), ("early", at(10))):
        cluster.groups.create(name=name, kind="user", first_seen_at=T0, membership_at=asked_at)
    assert rotation(cluster, {"fresh", "late"}).groups == ["fresh", "early", "late"]


@pytest.mark.django_db
def test_what_the_rows_know_of_a_group_and_its_present_members():
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    facts = {"sub_version": at(1), "members_changed_at": at(2), "settled_at": at(3)}
    group = cluster.groups.create(name="g", kind="user", first_seen_at=T0, **facts)
    times = {"address": "a", "language": "JAVA", "seen_since": T0, "last_seen": T0}
    spoke = {"running_info_at": at(5), "connections": {"broker-a": ["10.0.0.1:5"]}}
    Client.objects.create(group=group, client_id="spoke", **spoke, **times)
    Client.objects.create(group=group, client_id="silent", **times)
    Client.objects.create(group=group, client_id="gone", running_info_at=at(5), gone_by=at(9), **times)
    present = {"spoke": KnownMember({"broker-a": ["10.0.0.1:5"]}, at(5)), "silent": KnownMember({})}
    assert rotation(cluster, []).of("g") == KnownGroup(**facts, members=present)


def test_topics_of_every_broker_are_known_once_one_was_asked():
    memory = ClusterMemory()
    assert memory.topics is None
    memory.broker("broker-a", "a:1").topics = {"Orders": None}
    memory.broker("broker-b", "b:1").topics = {"Bills": None}
    assert memory.topics == {"Orders", "Bills"}


def test_a_broadcasting_group_has_no_subscriptions_that_could_be_never_committed():
    memory = ClusterMemory()
    said = [group_members("g", "c1"), group_members("cache", "c2", message_model="BROADCASTING")]
    remember_subscriptions(memory, members(0, said))
    assert memory.subscribed == {"g": frozenset({"Orders"}), "cache": frozenset()}


def test_a_group_whose_members_left_keeps_its_subscriptions():
    memory = ClusterMemory(subscribed={"g": frozenset({"Orders"})})
    remember_subscriptions(memory, members(0, [group_members("g")]))
    assert memory.subscribed == {"g": frozenset({"Orders"})}


@pytest.mark.django_db
def test_a_fresh_process_remembers_brokers_and_subscriptions():
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    cluster.brokers.create(name="broker-a", broker_id=0, address="127.0.0.1:10911")
    cluster.groups.create(
        name="g",
        kind="user",
        first_seen_at=T0,
        message_model="CLUSTERING",
        subscriptions=[{"topic": "Orders", "expression": "*", "expression_type": "TAG"}],
    )
    memory = remembered(cluster)
    assert memory.brokers["broker-a"].address == "127.0.0.1:10911"
    assert memory.subscribed == {"g": frozenset({"Orders"})}


def test_a_slave_that_stands_in_and_a_proxy_go_by_their_addresses():
    parts = [
        broker("broker-a"),
        replace(broker("broker-b"), read_from="127.0.0.1:2"),
        broker("broker-c", error="silent"),
    ]
    assert asked_brokers(reading(0, *parts), ["127.0.0.1:3"]) == [
        AskedBroker("broker-a", "127.0.0.1:1"),
        AskedBroker("127.0.0.1:2", "127.0.0.1:2"),
        AskedBroker("127.0.0.1:3", "127.0.0.1:3", passes_on=False),
    ]
