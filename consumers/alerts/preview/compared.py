"""What evaluations found in the range by the rule that is kept under the name of the preview, compared with the replay;
and why the two differ, as far as anything that is kept tells."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from consumers.models import AlertRule, Incident, Measure
from consumers.selectors.limits import limits

from .chosen import Chosen
from .grid import Grid
from .judged import evaluated_moments
from .values import judged_moments

LEAST_SLACK = timedelta(minutes=2)
COMPARED = (
    *("measure", "comparison", "threshold", "states", "clear_threshold", "for_seconds", "clear_seconds"),
    *("cluster", "group_pattern", "topic", "labels", "overrides"),
)


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


@dataclass(frozen=True)
class Replay:
    """What it found: the share of values that are not known, and firings of groups that the rule leaves alone."""

    rule: AlertRule
    grid: Grid
    unknown_share: float | None
    left_alone: int


def reasons(found: Evaluated, replay: Replay, now: datetime) -> list[str]:
    """Sentences, none where the two do not differ."""
    if not found.differs:
        return []
    said = [*_of_the_rule(found, replay), *_of_the_range(found, replay, now)]
    return said or [
        _("Nothing that is kept tells why: rules may not have been evaluated, or a value passed between two windows.")
    ]


def _of_the_rule(found: Evaluated, replay: Replay) -> Iterator[str]:
    kept = found.rule
    if changed := [name for name in COMPARED if getattr(kept, name) != getattr(replay.rule, name)]:
        yield _("It is not the rule as it is kept: %s differ.") % ", ".join(changed)
    if kept.changed_at > replay.grid.since:
        yield _("The rule was changed last at %s UTC: before that it may have been another one, or none.") % (
            f"{kept.changed_at:%Y-%m-%d %H:%M}"
        )
    if not kept.enabled:
        yield _("The rule that is kept is switched off.")


def _of_the_range(found: Evaluated, replay: Replay, now: datetime) -> Iterator[str]:
    if count := replay.left_alone:
        yield (
            ngettext(
                "%d firing of the replay is of a group that the rule leaves alone.",
                "%d firings of the replay are of groups that the rule leaves alone.",
                count,
            )
            % count
        )
    if count := found.elsewhere:
        yield (
            ngettext(
                "%d incident is of what is gone, or what the rule does not select today.",
                "%d incidents are of what is gone, or what the rule does not select today.",
                count,
            )
            % count
        )
    if replay.rule.measure == Measure.STATE and _was_late(replay.grid):
        yield _("Evaluations were late for a time: what contradicted the last states then is not kept.")
    if replay.unknown_share:
        yield _("Not all values of that time are known.")
    if replay.grid.step_seconds > 60:
        yield _("What lasted for less than %d minutes is not seen here.") % (replay.grid.step_seconds // 60)
    if replay.grid.since < now - timedelta(days=settings.ALERT_HISTORY_DAYS):
        yield _("Incidents are kept for %g days.") % settings.ALERT_HISTORY_DAYS


def _was_late(grid: Grid) -> bool:
    holds = timedelta(seconds=limits().judged_seconds)
    return bool((evaluated_moments(grid) & ~judged_moments(grid, holds)).any())
