"""Who is asked when the budget does not reach for all."""

import pytest

from consumers.models import Client, Cluster
from consumers.polling.members.collect_members import Rotation, plan_clients
from consumers.polling.memory import ClusterMemory
from consumers.polling.poll import remember_subscriptions, remembered, rotation
from tests.readings import T0, at, group_members, member, members


def test_clients_that_never_spoke_come_before_the_longest_silent():
    asked = [("g", member(name)) for name in ("late", "early", "fresh")]
    turn = Rotation(["g"], {("g", "late"): at(30), ("g", "early"): at(10)})
    assert [m.client_id for _, m in plan_clients(asked, turn, 3)] == ["fresh", "early", "late"]


def test_no_more_clients_are_asked_than_the_budget_allows():
    asked = [("g", member(name)) for name in ("a", "b", "c")]
    assert len(plan_clients(asked, Rotation(["g"], {}), 2)) == 2


@pytest.mark.django_db
def test_groups_that_were_never_asked_come_before_the_longest_unasked():
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    for name, asked_at in (("late", at(30)), ("early", at(10))):
        cluster.groups.create(name=name, kind="user", first_seen_at=T0, membership_at=asked_at)
    assert rotation(cluster, {"fresh", "late"}).groups == ["fresh", "early", "late"]


@pytest.mark.django_db
def test_when_each_client_last_spoke_is_kept_in_the_database():
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    group = cluster.groups.create(name="g", kind="user", first_seen_at=T0)
    times = {"address": "a", "language": "JAVA", "seen_since": T0, "last_seen": T0}
    Client.objects.create(group=group, client_id="spoke", running_info_at=at(5), **times)
    Client.objects.create(group=group, client_id="silent", **times)
    Client.objects.create(group=group, client_id="gone", running_info_at=at(5), gone_by=at(9), **times)
    assert rotation(cluster, []).spoke_at == {("g", "spoke"): at(5)}


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
