"""What holds whatever the queues and clients are called."""

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from consumers.rocketmq.allocation import Averagely, AveragelyByCircle, ConsistentHash, QueueKey, allocate, owners

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
QUEUES = st.sets(st.builds(QueueKey, st.just("T"), st.sampled_from(["a", "A@b", "B@b"]), st.integers(0, 9)), min_size=1)
DISTINCT = st.lists(NAMES, min_size=1, max_size=9, unique=True)
REPEATED = st.lists(NAMES, min_size=1, max_size=9)


ALL = pytest.mark.parametrize("strategy", [Averagely(), AveragelyByCircle(), ConsistentHash()])


@ALL
@given(queues=QUEUES, clients=DISTINCT)
def test_every_queue_has_one_owner_where_ids_are_distinct(strategy, queues, clients):
    shares = allocate(strategy, queues, clients)
    assert Counter(queue for share in shares.values() for queue in share) == Counter(queues)
    assert set(shares) == set(clients)


@ALL
@given(queues=QUEUES, clients=REPEATED, order=st.randoms(use_true_random=False))
def test_the_order_in_which_things_are_given_does_not_matter(strategy, queues, clients, order):
    shuffled_queues, shuffled_clients = list(queues), list(clients)
    order.shuffle(shuffled_queues)
    order.shuffle(shuffled_clients)
    assert allocate(strategy, queues, clients) == allocate(strategy, shuffled_queues, shuffled_clients)


@pytest.mark.parametrize("strategy", [Averagely(), AveragelyByCircle()])
@given(queues=QUEUES, clients=DISTINCT)
def test_shares_differ_by_one_queue_at_most(strategy, queues, clients):
    sizes = [len(share) for share in allocate(strategy, queues, clients).values()]
    assert max(sizes) - min(sizes) <= 1


@ALL
@given(queues=QUEUES, clients=REPEATED)
def test_a_queue_has_its_owner_once_for_each_process_with_that_id(strategy, queues, clients):
    found = owners(allocate(strategy, queues, clients), clients)
    processes = Counter(clients)
    for ids in found.values():
        assert Counter(ids) == {client: processes[client] for client in ids}


@given(queues=QUEUES, clients=DISTINCT, more=NAMES)
def test_a_client_that_joins_a_ring_takes_queues_and_moves_none_between_others(queues, clients, more):
    before = owners(allocate(ConsistentHash(), queues, clients), clients)
    after = owners(allocate(ConsistentHash(), queues, {*clients, more}), {*clients, more})
    assert all(after[queue] in (before[queue], (more,)) for queue in queues)
