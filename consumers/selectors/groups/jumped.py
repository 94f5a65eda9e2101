"""Groups whose worst queue is one whose offset jumped, with what moved it."""

from collections.abc import Sequence
from dataclasses import replace

from consumers.selectors.resets.causes import RULES, Jump, causes

from .shown import ShownGroup


def with_causes(shown: Sequence[ShownGroup]) -> list[ShownGroup]:
    """In their order; asks for nothing where no offset jumped."""
    jumps = {one.group.pk: jump for one in shown if (jump := _jump(one)) is not None}
    found = causes(jumps.values())
    return [replace(one, cause=found[jumps[one.group.pk]]) if one.group.pk in jumps else one for one in shown]


def _jump(one: ShownGroup) -> Jump | None:
    """A group may be in its state for longer than the queue that decides."""
    verdict, judged = one.verdict, one.judged
    queue, since = verdict.queue, verdict.since
    if verdict.rule not in RULES or queue is None or since is None or judged is None:
        return None
    return Jump(one.group.pk, queue.topic.name, queue.broker, queue.queue_id, verdict.rule, since, judged.judged_at)
