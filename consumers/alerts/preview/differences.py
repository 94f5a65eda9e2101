"""Why a replay and the evaluations of its range differ, as far as anything that is kept tells."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from consumers.models import AlertRule, Measure
from consumers.selectors.limits import limits

from .compared import Evaluated
from .grid import Grid
from .judged import evaluated_moments, judged_moments

COMPARED = (
    *("measure", "comparison", "threshold", "states", "clear_threshold", "for_seconds", "clear_seconds"),
    *("cluster", "group_pattern", "topic", "labels", "overrides"),
)


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
    return len(judged_moments(grid, holds)) < len(evaluated_moments(grid))
