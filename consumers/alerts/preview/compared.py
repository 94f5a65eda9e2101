"""What evaluations found in the range by the rule that is kept under the name of the preview, beside the replay."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from consumers.models import AlertRule, Incident

from .chosen import Chosen
from .grid import Grid

LEAST_SLACK = timedelta(minutes=2)


@dataclass(frozen=True)
class Fired:
    """`until` is null of what fires still, or did so at the end of the range."""

    key: str
    since: datetime
    until: datetime | None


@dataclass(frozen=True)
class Evaluated:
    """`incidents`: those of the kept rule that fired in the range, or before it and went on in it, in order of time.

    `elsewhere` of them are of subjects that the replay did not look at. `only_replayed` are the replay's that overlap
    none of them, and `only_evaluated` those of them that overlap none of the replay's.
    """

    rule: AlertRule
    incidents: Sequence[Incident]
    fired: int
    fired_before: int
    elsewhere: int
    only_replayed: Sequence[Fired]
    only_evaluated: Sequence[Fired]

    @property
    def differs(self) -> bool:
        return bool(self.only_replayed or self.only_evaluated or self.elsewhere)


def evaluated(rule: AlertRule, chosen: Chosen, grid: Grid, replayed: Sequence[Fired]) -> Evaluated | None:
    """Null where no rule of that name is kept. Two queries."""
    kept = AlertRule.objects.filter(name=rule.name).first() if rule.name else None
    if kept is None:
        return None
    went_on = Q(resolved_at=None) | Q(resolved_at__gt=grid.since)
    incidents = list(Incident.objects.filter(went_on, rule=kept, fired_at__lte=grid.until).order_by("fired_at", "pk"))
    known = {subject.key for subject in chosen.subjects}
    found = [Fired(one.subject_key, *_times(one)) for one in incidents]
    of_known = [one for one in found if one.key in known]
    slack = max(LEAST_SLACK, timedelta(seconds=2 * grid.step_seconds))
    before = sum(one.since < grid.since for one in found)
    return Evaluated(
        rule=kept,
        incidents=incidents,
        fired=len(found) - before,
        fired_before=before,
        elsewhere=len(found) - len(of_known),
        only_replayed=_without(replayed, of_known, slack),
        only_evaluated=_without(of_known, replayed, slack),
    )


def _times(incident: Incident) -> tuple[datetime, datetime | None]:
    if incident.fired_at is None:
        raise ValueError(f"{incident} never fired.")
    return incident.fired_at, incident.resolved_at


def _without(some: Sequence[Fired], others: Sequence[Fired], slack: timedelta) -> list[Fired]:
    """Those of `some` that fired while none of `others` did, give or take `slack`."""
    by_key: dict[str, list[Fired]] = {}
    for one in others:
        by_key.setdefault(one.key, []).append(one)
    return [one for one in some if not any(_overlap(one, other, slack) for other in by_key.get(one.key, ()))]


def _overlap(one: Fired, other: Fired, slack: timedelta) -> bool:
    begins_in_time = other.until is None or one.since <= other.until + slack
    return begins_in_time and (one.until is None or other.since <= one.until + slack)
