"""Changes of states as they are kept: since when each state was so, and whether a reset from here led to it."""

from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from consumers.models import StateChange
from consumers.selectors.resets.causes import RULES, Jump, causes

# Of so many jumps are resets looked up at once: each names its group in the statement.
LOOKED_UP_AT_ONCE = 500


class Change(NamedTuple):
    """At `at` the judgement said `after` for the first time."""

    pk: int
    group_id: int
    at: datetime
    before: str | None
    after: str
    rule: str
    detail: Mapping[str, Any]

    @property
    def since(self) -> datetime:
        """Of what stands still: since it stands, as the judgement counts it. Else when it was judged."""
        seconds = self.detail.get("still_seconds")
        return self.at if seconds is None else self.at - timedelta(seconds=seconds)


def changes_of(groups: Container[int], since: datetime) -> Iterator[Change]:
    """Those at `since` and later, the oldest first."""
    found = StateChange.objects.filter(at__gte=since).order_by("at")
    for row in found.values_list(*Change._fields).iterator():
        change = Change._make(row)
        if change.group_id in groups:
            yield change


def led_to_by_resets(changes: Sequence[Change]) -> set[int]:
    """The keys of those whose offset somebody had set from here."""
    jumps = {jump: change.pk for change in changes if (jump := _jump(change)) is not None}
    looked_up = list(jumps)
    found: set[int] = set()
    for begin in range(0, len(looked_up), LOOKED_UP_AT_ONCE):
        said = causes(looked_up[begin : begin + LOOKED_UP_AT_ONCE])
        found |= {jumps[jump] for jump, cause in said.items() if "reset" in cause}
    return found


def _jump(change: Change) -> Jump | None:
    if change.rule not in RULES:
        return None
    topic, broker, queue_id = (change.detail.get(name) for name in ("topic", "broker", "queue_id"))
    if topic is None or broker is None or queue_id is None:
        return None
    return Jump(change.group_id, topic, broker, queue_id, change.rule, change.since, change.at)
