"""Compares what a stored rule of the same name found in the range with the replay, and says why the two differ, as far
as stored data shows it."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q

from consumers.alerts.measured import Subject, column_key
from consumers.alerts.measures.registry import SPECS, measured
from consumers.alerts.preview.judged import evaluated_moments
from consumers.alerts.preview.values import Grid, judged_moments
from consumers.models import AlertRule, ConsumerGroup, Incident, Measure
from consumers.polling.flags import offline_share
from consumers.queries.groups import named_at_once
from consumers.queries.limits import limits
from consumers.vocabulary.alerts import AlertEvidence, PreviewReason
from consumers.vocabulary.times import iso
from consumers.words.reasons import coded_reason

from .request import Chosen

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
    stored = AlertRule.objects.filter(name=rule.name).first() if rule.name else None
    if stored is None:
        return None
    went_on = Q(resolved_at=None) | Q(resolved_at__gt=grid.since)
    incidents = list(Incident.objects.filter(went_on, rule=stored, fired_at__lte=grid.until).order_by("fired_at", "pk"))
    known = {subject.key for subject in chosen.subjects}
    found = [Fired(one.subject_key, *_times(one)) for one in incidents]
    of_known = [one for one in found if one.key in known]
    slack = max(LEAST_SLACK, timedelta(seconds=2 * grid.step_seconds))
    before = sum(one.since < grid.since for one in found)
    return Evaluated(
        rule=stored,
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
    excluded: int


def reasons(found: Evaluated, replay: Replay, now: datetime) -> list[str]:
    """None where the two do not differ."""
    if not found.differs:
        return []
    sentences = [*_of_the_rule(found, replay), *_of_the_range(found, replay, now)]
    return sentences or [coded_reason(PreviewReason.NOT_STORED)]


def _of_the_rule(found: Evaluated, replay: Replay) -> Iterator[str]:
    stored = found.rule
    if changed := [name for name in COMPARED if getattr(stored, name) != getattr(replay.rule, name)]:
        yield coded_reason(PreviewReason.OTHER_RULE, names=changed)
    if stored.changed_at > replay.grid.since:
        yield coded_reason(PreviewReason.RULE_CHANGED, at=iso(stored.changed_at))
    if not stored.enabled:
        yield coded_reason(PreviewReason.RULE_DISABLED)


def _of_the_range(found: Evaluated, replay: Replay, now: datetime) -> Iterator[str]:
    if replay.excluded:
        yield coded_reason(PreviewReason.OF_EXCLUDED, excluded_firings=replay.excluded)
    if found.elsewhere:
        yield coded_reason(PreviewReason.OF_OTHERS, other_incidents=found.elsewhere)
    if replay.rule.measure == Measure.STATE and _was_late(replay.grid):
        yield coded_reason(PreviewReason.EVALUATED_LATE)
    if replay.unknown_share:
        yield coded_reason(PreviewReason.PARTLY_UNKNOWN)
    if replay.grid.step_seconds > 60:
        yield coded_reason(PreviewReason.SHORT_CONDITIONS, step_seconds=replay.grid.step_seconds)
    if replay.grid.since < now - timedelta(days=settings.ALERT_HISTORY_DAYS):
        yield coded_reason(PreviewReason.INCIDENTS_EXPIRED, days=f"{settings.ALERT_HISTORY_DAYS:g}")


def _was_late(grid: Grid) -> bool:
    holds = timedelta(seconds=limits().judged_seconds)
    return bool((evaluated_moments(grid) & ~judged_moments(grid, holds)).any())


# Groups that the rule leaves alone as things stand: what a preview finds of them would not be told today.


def excluded(rule: AlertRule, found: Mapping[int, Subject], now: datetime) -> dict[int, str]:
    """Why the rule leaves them alone, by the places of `found`; those that it does not are left out.

    Of what is no group the replay itself knows that, too.
    """
    groups = {place: subject for place, subject in found.items() if subject.group_id is not None}
    spec = SPECS[Measure(rule.measure)]
    if not groups or spec.knows_exclusions:
        return {}
    # An evaluation says that a group waits by habit only while the group waits.
    by_habit = _by_habit(groups, now) if spec.is_of_waiting else {}
    return by_habit | _just_now(rule, groups, now)


def _just_now(rule: AlertRule, groups: Mapping[int, Subject], now: datetime) -> dict[int, str]:
    """As an evaluation of now says it."""
    asked = copy(rule)
    asked.enabled = True
    seen = measured(now, [asked])
    table = seen.topics[rule.topic] if rule.topic else seen.groups
    column, numbers = table.columns[column_key(rule)], {one.key: at for at, one in enumerate(table.subjects)}
    reasons = {
        place: column.suppressed(numbers[subject.key]) for place, subject in groups.items() if subject.key in numbers
    }
    return {place: reason for place, reason in reasons.items() if reason is not None}


def _by_habit(groups: Mapping[int, Subject], now: datetime) -> dict[int, str]:
    kinds = limits().kinds
    shares: dict[int, float] = {}
    for some in named_at_once({one.group_id for one in groups.values() if one.group_id is not None}):
        for group in ConsumerGroup.objects.filter(pk__in=some):
            share = offline_share(group, now, kinds)
            if share is not None and share > kinds.habit_offline_share:
                shares[group.pk] = share
    return {
        place: coded_reason(
            AlertEvidence.OFFLINE_BY_HABIT, percent=round(shares[subject.group_id] * 100), days=f"{kinds.habit_days:g}"
        )
        for place, subject in groups.items()
        if subject.group_id in shares
    }
