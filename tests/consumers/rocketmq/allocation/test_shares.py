"""What each strategy gives whom: the examples are what RocketMQ 5.4.0's own classes answered."""

import pytest

from consumers.rocketmq.allocation import (
    Averagely,
    AveragelyByCircle,
    ConsistentHash,
    NothingToShare,
    QueueKey,
    allocate,
    broadcast,
    owners,
)

THREE = ["c1", "c2", "c3"]


def queues(*names: str) -> list[QueueKey]:
    """`a3` is queue 3 of T on broker-a."""
    return [QueueKey("T", f"broker-{name[0]}", int(name[1:])) for name in names]


EIGHT = queues("a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3")


def said(shares) -> dict[str, str]:
    return {
        client: " ".join(f"{queue.broker[-1]}{queue.queue_id}" for queue in share) for client, share in shares.items()
    }


@pytest.mark.parametrize(
    ("strategy", "first", "second", "third"),
    [
        (Averagely(), "a0 a1 a2", "a3 b0 b1", "b2 b3"),
        (AveragelyByCircle(), "a0 a3 b2", "a1 b0 b3", "a2 b1"),
        (ConsistentHash(), "a0 b0 b3", "a1 a2 b2", "a3 b1"),
    ],
)
def test_each_strategy_shares_eight_queues_among_three(strategy, first, second, third):
    assert said(allocate(strategy, EIGHT, THREE)) == {"c1": first, "c2": second, "c3": third}


def test_two_processes_with_one_id_leave_half_of_the_queues_to_nobody():
    found = owners(allocate(Averagely(), EIGHT, ["c1", "c1"]), ["c1", "c1"])
    assert found == dict.fromkeys(queues("a0", "a1", "a2", "a3"), ("c1", "c1"))


def test_two_processes_with_one_id_own_all_of_a_ring_twice():
    found = owners(allocate(ConsistentHash(), EIGHT, ["c1", "c1"]), ["c1", "c1"])
    assert found == dict.fromkeys(EIGHT, ("c1", "c1"))


def test_clients_beyond_the_number_of_queues_own_nothing():
    assert said(allocate(Averagely(), queues("a0", "a1"), THREE)) == {"c1": "a0", "c2": "a1", "c3": ""}


def test_clients_are_sorted_as_text_not_as_addresses():
    shares = allocate(Averagely(), queues("a0", "a1"), ["192.0.2.2@1", "192.0.2.10@1"])
    assert said(shares) == {"192.0.2.10@1": "a0", "192.0.2.2@1": "a1"}


def test_names_beyond_the_first_plane_sort_by_their_surrogates():
    shares = allocate(Averagely(), queues("a0", "a1"), ["\uffee", "\U0001f600"])
    assert said(shares) == {"\U0001f600": "a0", "\uffee": "a1"}


@pytest.mark.parametrize(
    ("of", "among", "why"), [([], THREE, "no queues"), (EIGHT, [], "no clients"), (EIGHT, ["", "c1"], "empty id")]
)
def test_what_makes_the_clients_throw_is_refused(of, among, why):
    with pytest.raises(NothingToShare, match=why):
        allocate(Averagely(), of, among)


def test_in_broadcasting_everyone_owns_everything():
    assert broadcast(reversed(EIGHT), THREE) == dict.fromkeys(THREE, tuple(EIGHT))


def test_a_ring_with_fewer_than_no_nodes_is_refused():
    with pytest.raises(ValueError, match="-1 times"):
        ConsistentHash(-1)


def test_nobody_stands_on_a_ring_without_nodes():
    assert said(allocate(ConsistentHash(0), EIGHT, THREE)) == {"c1": "", "c2": "", "c3": ""}
