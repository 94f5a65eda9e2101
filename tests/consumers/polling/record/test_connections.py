"""Which brokers list a member, under which addresses, and what of that ends an interval."""

from dataclasses import replace

import pytest

from consumers.models import Client
from tests.readings import at, client, group_members, member

pytestmark = pytest.mark.django_db

A, B, C = "10.0.0.1:5000", "10.0.0.1:6000", "10.0.0.1:7000"
BOTH = ("broker-a", "broker-b")


def listed(error=None, answered_by=BOTH, **connections):
    """An answer about c1 alone: the addresses under which each broker lists it."""
    one = member("c1", **{name: tuple(addresses.split()) for name, addresses in connections.items()})
    return replace(group_members("billing", error=error), members=(one,), answered_by=answered_by)


def intervals():
    rows = Client.objects.order_by("seen_since")
    return [(row.connections, row.seen_since, row.gone_by) for row in rows]


def test_a_member_is_kept_with_every_broker_s_addresses(observe):
    observe(0, [listed(broker_a=A, broker_b=B)])
    assert intervals() == [({"broker-a": [A], "broker-b": [B]}, at(0), None)]


def test_another_address_at_the_same_broker_is_another_interval(observe):
    observe(0, [listed(broker_a=A, broker_b=B)])
    observe(15, [listed(broker_a=C, broker_b=B)])
    assert intervals() == [
        ({"broker-a": [A], "broker-b": [B]}, at(0), at(15)),
        ({"broker-a": [C], "broker-b": [B]}, at(15), None),
    ]


@pytest.mark.parametrize(
    ("before", "after", "connections", "why"),
    [
        (
            listed(broker_a=A),
            listed(broker_a=A, broker_b=B),
            {"broker-a": [A], "broker-b": [B]},
            "one broker more lists it",
        ),
        (listed(broker_a=A, broker_b=B), listed(broker_b=B), {"broker-b": [B]}, "one lists it no more"),
        (
            listed(broker_a=A, broker_b=B),
            listed(error="broker-a: silent", answered_by=("broker-b",), broker_b=B),
            {"broker-a": [A], "broker-b": [B]},
            "a silent broker proves nothing",
        ),
        (
            listed(broker_a=A, broker_b=B),
            listed(error="broker-c: silent", broker_b=B),
            {"broker-b": [B]},
            "one that answered lists it no more, whoever is silent",
        ),
        (listed(broker_a=A), listed(broker_b=B), {"broker-b": [B]}, "another broker lists it"),
        (listed(broker_a=A), listed(broker_a=f"{A} {B}"), {"broker-a": [A, B]}, "a second process with its id"),
        (listed(broker_a=f"{A} {B}"), listed(broker_a=B), {"broker-a": [B]}, "the end of one of two processes"),
    ],
)
def test_what_is_no_reconnect_leaves_the_interval(observe, before, after, connections, why):
    observe(0, [before])
    observe(15, [after])
    assert intervals() == [(connections, at(0), None)], why


def test_a_restarted_broker_is_a_reconnect_at_that_broker_alone(observe):
    observe(0, [listed(broker_a=A, broker_b=B)])
    observe(15, [listed(error="broker-a: refused", answered_by=("broker-b",), broker_b=B)])
    assert len(intervals()) == 1
    observe(30, [listed(broker_a=C, broker_b=B)])
    assert [since for _, since, _ in intervals()] == [at(0), at(30)]


def test_a_slave_in_its_master_s_place_changes_no_address(observe):
    observe(0, [listed(broker_a=A)])
    observe(15, [listed(broker_a=B)], stand_in="127.0.0.1:2")
    observe(30, [listed(broker_a=A)])
    assert intervals() == [({"broker-a": [A]}, at(0), None)]


def test_a_slave_proves_that_a_member_is_listed_and_not_by_which_connection(observe):
    observe(0, [listed(broker_a=B)], stand_in="127.0.0.1:2")
    assert intervals() == [({"broker-a": []}, at(0), None)]
    observe(15, [listed(broker_a=A)])
    assert intervals() == [({"broker-a": [A]}, at(0), None)]


def test_the_address_is_that_at_the_first_broker_that_lists_it(observe):
    for seconds, one in ((0, member("c1", B, broker_b=(B,))), (15, member("c1", A, broker_a=(A,), broker_b=(B,)))):
        observe(seconds, [replace(listed(broker_b=B), members=(one,))])
    assert Client.objects.get().address == A


def test_a_member_of_a_proxy_is_kept_by_the_proxy_s_address(observe):
    of_proxy = member("grpc-1", A)
    of_proxy = replace(of_proxy, connections={"10.0.0.9:8080": (A,)})
    observe(0, [replace(group_members("billing"), members=(of_proxy,), answered_by=("broker-a", "10.0.0.9:8080"))])
    assert intervals() == [({"10.0.0.9:8080": [A]}, at(0), None)]


def listed_since():
    return Client.objects.values_list("listed_since", flat=True).get(gone_by=None)


def test_it_is_known_since_when_these_brokers_and_no_others_list_it(observe):
    seen = []
    silent = listed(error="broker-b: silent", answered_by=("broker-a",), broker_a=A)
    answers = [listed(broker_a=A), listed(broker_a=A, broker_b=B), silent, listed(broker_a=C, broker_b=B)]
    for number, answer in enumerate([*answers, listed(broker_b=B)]):
        observe(15 * number, [answer])
        seen.append(listed_since())
    assert seen == [at(0), at(15), at(15), at(15), at(60)]


def test_two_processes_under_one_id_are_so_since_one_broker_lists_both(observe):
    seen = []
    for number, addresses in enumerate((A, f"{A} {B}", f"{A} {C}", C)):
        observe(15 * number, [listed(broker_a=addresses)])
        seen.append(Client.objects.values_list("duplicated_since", flat=True).get(gone_by=None))
    assert seen == [None, at(15), at(15), None]


def test_one_connection_to_each_of_two_brokers_is_one_process(observe):
    observe(0, [listed(broker_a=A, broker_b=B)])
    assert Client.objects.get().duplicated_since is None


def test_a_silent_broker_does_not_end_a_double_id(observe):
    observe(0, [listed(broker_a=f"{A} {B}", broker_b=C)])
    observe(15, [listed(error="broker-a: silent", answered_by=("broker-b",), broker_b=C)])
    assert Client.objects.get().duplicated_since == at(0)


def test_what_a_client_said_is_not_said_by_its_next_connection(observe):
    observe(0, [listed(broker_a=A)], [client("billing", "c1", strategy="Averagely")])
    observe(15, [listed(broker_a=B)])
    assert list(Client.objects.order_by("seen_since").values_list("strategy", flat=True)) == ["Averagely", None]
