"""The shares of one topic's queues, as RebalanceImpl.rebalanceByTopic (5.4.0) arrives at them in every client."""

from collections.abc import Iterable

from .strategies import QueueKey, Shares, Strategy, java_order, queue_order


class NothingToShare(ValueError):
    """No queues, no clients, or a client without an id: the clients' rebalance fails, and they keep what they hold."""


def allocate(strategy: Strategy, queues: Iterable[QueueKey], client_ids: Iterable[str]) -> Shares:
    """By client id what each owns; `client_ids` holds an id once for each process that bears it, `queues` each once.

    Raises NothingToShare where AbstractAllocateMessageQueueStrategy.check throws.
    """
    all_queues, all_clients = sorted(queues, key=queue_order), sorted(client_ids, key=java_order)
    if not all_queues:
        raise NothingToShare("There are no queues to share.")
    if not all_clients:
        raise NothingToShare("There are no clients to share the queues among.")
    if not all_clients[0]:
        raise NothingToShare("A client has an empty id.")
    return strategy.shares(all_queues, all_clients)


def broadcast(queues: Iterable[QueueKey], client_ids: Iterable[str]) -> Shares:
    """Broadcasting: every client owns every queue, whatever its strategy."""
    everything = tuple(sorted(queues, key=queue_order))
    return dict.fromkeys(client_ids, everything)


def owners(shares: Shares, client_ids: Iterable[str]) -> dict[QueueKey, tuple[str, ...]]:
    """By queue its owners, sorted; an id once for each process that bears it. A queue of nobody is not in it."""
    found: dict[QueueKey, list[str]] = {}
    for client_id in sorted(client_ids, key=java_order):
        for queue in shares.get(client_id, ()):
            found.setdefault(queue, []).append(client_id)
    return {queue: tuple(ids) for queue, ids in found.items()}
