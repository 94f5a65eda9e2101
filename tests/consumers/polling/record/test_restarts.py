"""What a client that started anew, came back or was long not heard of holds: the same queue, or held anew."""

from dataclasses import replace

import pytest

from consumers.models import Assignment, Client
from tests.readings import at, client, group_members, member, owned

pytestmark = pytest.mark.django_db

Q0 = owned("Orders", "broker-a", 0)
HOUR = 3600


def connected(port, **more):
    return replace(group_members("billing", "c1"), members=(member("c1", f"10.0.0.1:{port}"),), **more)


def said(*queues, started=-60, **more):
    return [client("billing", "c1", *queues, started_at=at(started), **more)]


def held():
    return list(Assignment.objects.order_by("seen_since").values_list("seen_since", "last_seen", "gone_by"))


def lived():
    return list(Client.objects.order_by("seen_since").values_list("started_at", "seen_since", "gone_by"))


def test_a_reconnected_client_goes_on_holding_its_queues(observe):
    observe(0, [connected(5000)], said(Q0))
    observe(15, [connected(6000)], said(Q0))
    assert lived() == [(at(-60), at(0), at(15)), (at(-60), at(15), None)]
    assert held() == [(at(0), at(15), None)]


def test_a_restarted_client_holds_its_queues_anew(observe):
    observe(0, [connected(5000)], said(Q0))
    observe(15, [connected(6000)], said(Q0, started=10))
    assert lived() == [(at(-60), at(0), at(15)), (at(10), at(15), None)]
    assert held() == [(at(0), at(0), at(15)), (at(15), at(15), None)]


def test_a_consumer_that_starts_anew_over_the_same_connection_is_another_interval(observe):
    observe(0, [connected(5000)], said(Q0))
    observe(15, [connected(5000)], said(Q0, started=10))
    assert lived() == [(at(-60), at(0), at(15)), (at(10), at(15), None)]
    assert held() == [(at(0), at(0), at(15)), (at(15), at(15), None)]
    first, second = Client.objects.order_by("seen_since")
    assert (second.connections, second.listed_since) == (first.connections, at(0))


def test_a_restart_that_is_told_later_ends_what_was_held_before(observe):
    observe(0, [connected(5000)], said(Q0))
    observe(15, [connected(6000)], [client("billing", "c1", error="timed out")])
    assert held() == [(at(0), at(0), None)]
    observe(30, [connected(6000)], said(Q0, started=10))
    assert held() == [(at(0), at(0), at(30)), (at(30), at(30), None)]


def test_a_reconnect_that_is_told_later_ends_nothing(observe):
    observe(0, [connected(5000)], said(Q0))
    observe(15, [connected(6000)])
    observe(30, [connected(6000)], said(Q0))
    assert held() == [(at(0), at(30), None)]


def test_two_processes_under_one_id_that_answer_in_turn_start_nothing(observe):
    two = replace(group_members("billing", "c1"), members=(member("c1", broker_a=("10.0.0.1:1", "10.0.0.1:2")),))
    for seconds, started in ((0, -60), (15, -30), (30, -60)):
        observe(seconds, [two], said(Q0, started=started))
    assert (len(lived()), held()) == (1, [(at(0), at(30), None)])


def test_a_second_process_that_answers_at_once_is_no_start(observe):
    two = replace(group_members("billing", "c1"), members=(member("c1", broker_a=("10.0.0.1:5000", "10.0.0.1:6000")),))
    observe(0, [connected(5000)], said(Q0, started=-60))
    observe(15, [two], said(Q0, started=-30))
    assert (len(lived()), held()) == (1, [(at(0), at(15), None)])


def test_the_end_of_a_double_id_is_no_start(observe):
    two = replace(group_members("billing", "c1"), members=(member("c1", broker_a=("10.0.0.1:5000", "10.0.0.1:6000")),))
    observe(0, [two], said(Q0, started=-60))
    observe(15, [connected(6000)], said(Q0, started=-30))
    assert [started for started, *_ in lived()] == [at(-30)]


def test_the_process_that_is_left_of_two_may_speak_later_and_has_not_started(observe):
    two = replace(group_members("billing", "c1"), members=(member("c1", broker_a=("10.0.0.1:5000", "10.0.0.1:6000")),))
    observe(0, [two], said(Q0, started=-30))
    observe(15, [connected(5000)], [client("billing", "c1", error="the channel is closed")])
    assert lived() == [(None, at(0), None)]
    observe(30, [connected(5000)], said(Q0, started=-60))
    assert (lived(), held()) == ([(at(-60), at(0), None)], [(at(0), at(30), None)])


@pytest.mark.parametrize(
    ("later", "consume_type", "stamps", "kept", "why"),
    [
        (120, "CONSUME_PASSIVELY", (-30, 100), True, "the poller missed a few readings"),
        (HOUR, "CONSUME_PASSIVELY", (-30, 100), False, "its queues changed in the hole"),
        (HOUR, "CONSUME_PASSIVELY", (-30, -30), True, "by its own stamp they did not"),
        (HOUR, "CONSUME_PASSIVELY", (None, None), False, "it stamps nothing"),
        (HOUR, "CONSUME_ACTIVELY", (-30, -30), False, "a pull consumer stamps no rebalance"),
    ],
)
def test_an_interval_reaches_over_a_hole_only_with_a_proof(observe, later, consume_type, stamps, kept, why):
    members = connected(5000, consume_type=consume_type)
    for seconds, stamp in zip((0, later), stamps, strict=True):
        observe(seconds, [members], said(Q0, sub_version=None if stamp is None else at(stamp)))
    expected = [(at(0), at(later), None)] if kept else [(at(0), at(0), at(later)), (at(later), at(later), None)]
    assert held() == expected, why
    assert len(lived()) == 1


def test_a_client_that_waits_for_its_turn_holds_on_while_its_group_is_asked_and_does_not_change(observe):
    observe(0, [connected(5000)], said(Q0))
    for seconds in range(100, HOUR, 100):
        observe(seconds, [connected(5000)])
    observe(HOUR, [connected(5000)], said(Q0))
    assert held() == [(at(0), at(HOUR), None)]


def test_a_client_that_does_not_answer_after_a_hole_keeps_its_queues_as_old_as_they_are(observe):
    observe(0, [connected(5000)], said(Q0))
    observe(HOUR, [connected(5000)], [client("billing", "c1", error="timed out")])
    assert held() == [(at(0), at(0), None)]
