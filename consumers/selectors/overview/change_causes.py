"""What moved the offsets whose jumps changed the state of groups."""

from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings

from consumers.models import StateChange
from consumers.selectors.resets.causes import RULES, Jump, causes


def change_causes(rows: Iterable[StateChange]) -> dict[int, dict[str, str]]:
    """Beside the numbers of each, by its id. One query, none without a jump."""
    jumps = {row.pk: jump for row in rows if (jump := _jump(row)) is not None}
    found = causes(jumps.values())
    return {pk: found[jump] for pk, jump in jumps.items()}


def _jump(row: StateChange) -> Jump | None:
    """A judgement looks back over one window: the jump lies in it."""
    place = [row.detail.get(name) for name in ("topic", "broker", "queue_id")]
    if row.rule not in RULES or None in place:
        return None
    topic, broker, queue_id = place
    since = row.at - timedelta(seconds=settings.JUDGE["window_seconds"])
    return Jump(row.group_id, topic, broker, queue_id, row.rule, since, row.at)
