"""Which groups pop, as far as their present members say, and how many popped messages wait for their ack."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import QuerySet

from consumers.models import Client, ConsumerGroup


@dataclass(frozen=True)
class PopAnswer:
    """`pops` null: no member said how it consumes. `unacked_messages` null: not every member did."""

    pops: bool | None
    unacked_messages: int | None


NO_ANSWER = PopAnswer(None, None)


def pop_answers(groups: QuerySet[ConsumerGroup] | Iterable[int]) -> dict[int, PopAnswer]:
    """By group id; groups without members are left out. One query."""
    said: dict[int, list[list[dict[str, int]] | None]] = {}
    for group, queues in Client.objects.filter(group__in=groups, gone_by=None).values_list("group_id", "pop_queues"):
        said.setdefault(group, []).append(queues)
    return {group: _answer(answers) for group, answers in said.items()}


def _answer(answers: list[list[dict[str, int]] | None]) -> PopAnswer:
    told = [queues for queues in answers if queues is not None]
    if not told:
        return NO_ANSWER
    unacked = sum(queue["wait_ack_count"] for queues in told for queue in queues)
    return PopAnswer(any(told), unacked if len(told) == len(answers) else None)
