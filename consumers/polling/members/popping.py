"""Which groups pop, as far as their present members say, and how many popped messages wait for their ack."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from consumers.models import Client, ConsumerGroup


@dataclass(frozen=True)
class PopAnswer:
    """`pops` null: no member said how it consumes. `unacked_messages` null: not every member did."""

    pops: bool | None
    unacked_messages: int | None


NO_ANSWER = PopAnswer(None, None)


def pop_answers(groups: QuerySet[ConsumerGroup] | Iterable[int]) -> dict[int, PopAnswer]:
    """By group id; groups without members are left out. Two queries, of which the second reads only what is popped."""
    members = Client.objects.filter(group__in=groups, gone_by=None)
    counted = members.order_by().values_list("group_id").annotate(Count("pk"), Count("pop_queues"))
    unacked: dict[int, int] = {}
    popping = members.exclude(pop_queues=None).exclude(pop_queues=[])
    for group, queues in popping.values_list("group_id", "pop_queues"):
        unacked[group] = unacked.get(group, 0) + sum(queue["wait_ack_count"] for queue in queues or ())
    return {
        group: _answer(all_told=told == present, none_told=not told, unacked=unacked.get(group))
        for group, present, told in counted
    }


def _answer(*, all_told: bool, none_told: bool, unacked: int | None) -> PopAnswer:
    """`unacked` null: no member that has told pops."""
    if none_told:
        return NO_ANSWER
    return PopAnswer(unacked is not None, (unacked or 0) if all_told else None)
