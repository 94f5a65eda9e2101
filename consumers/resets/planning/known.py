"""What rows tell of a group that its masters do not: they are read before its masters are asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from consumers.models import Client, ConsumerGroup


@dataclass(frozen=True)
class Known:
    """`orderly` null: no present member said it. `popped`: topics that present members said they pop."""

    orderly: bool | None
    popped: frozenset[str]


def known_of(group: ConsumerGroup) -> Known:
    clients = Client.objects.filter(group=group, gone_by=None).order_by()
    told = list(clients.values_list("orderly", "pop_queues"))
    return Known(
        orderly=_orderly([orderly for orderly, _ in told if orderly is not None]),
        popped=frozenset(queue["topic"] for _, queues in told for queue in queues or ()),
    )


def _orderly(said: Sequence[bool]) -> bool | None:
    """One orderly member is enough: queues are locked for it."""
    return any(said) if said else None
