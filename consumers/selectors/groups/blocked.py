"""Groups whose worst queue is blocked, with the message that blocks it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from consumers.selectors.retries.blocked import blocked_places
from consumers.vocabulary.rules import RuleCode

from .shown import ShownGroup


def with_blocked(shown: Sequence[ShownGroup], now: datetime) -> list[ShownGroup]:
    """In their order; asks for nothing where no group is blocked."""
    verdicts = [one.verdict for one in shown]
    places = {
        (one.group.pk, verdict.queue.pk)
        for one, verdict in zip(shown, verdicts, strict=True)
        if verdict.rule == RuleCode.BLOCKED and verdict.queue is not None
    }
    found = {group: blocked for (group, _), blocked in blocked_places(places, now).items()}
    return [replace(one, blocked=found.get(one.group.pk)) for one in shown]
