"""Groups that the rule leaves alone as things stand: what a preview finds of them would not be told today. And
what else is to be known beside the numbers, in sentences.

Whether a group was paused, or offline by habit, at a moment of the past is not kept.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from datetime import datetime

from django.utils.translation import gettext as _

from consumers.alerts.measures.registry import SPECS
from consumers.alerts.measuring import measured
from consumers.alerts.subjects import Subject
from consumers.models import AlertRule, Comparison, ConsumerGroup, Measure, SubjectKind
from consumers.polling.flags import offline_share
from consumers.selectors.limits import limits

from .grid import Grid

# SQLite takes no more than some thousand parameters in one statement.
NAMED_AT_ONCE = 500


def left_alone(rule: AlertRule, found: Mapping[int, Subject], now: datetime) -> dict[int, str]:
    """Why the rule leaves them alone, by the places of `found`; those that it does not are left out.

    Of what is no group the replay itself knows that, too.
    """
    groups = {place: subject for place, subject in found.items() if subject.group_id is not None}
    spec = SPECS[Measure(rule.measure)]
    if not groups or spec.knows_exclusions:
        return {}
    # An evaluation says that a group waits by habit only while the group waits.
    said = _by_habit(groups, now) if spec.is_of_waiting else {}
    return said | _just_now(rule, groups, now)


def _just_now(rule: AlertRule, groups: Mapping[int, Subject], now: datetime) -> dict[int, str]:
    """As an evaluation of now says it."""
    asked = copy(rule)
    asked.enabled = True
    seen = measured(now, [asked])
    table = seen.topics[rule.topic] if rule.topic else seen.groups
    column, numbers = table.columns[Measure(rule.measure)], {one.key: at for at, one in enumerate(table.subjects)}
    reasons = {
        place: column.spared(numbers[subject.key]) for place, subject in groups.items() if subject.key in numbers
    }
    return {place: reason for place, reason in reasons.items() if reason is not None}


def _by_habit(groups: Mapping[int, Subject], now: datetime) -> dict[int, str]:
    kinds = limits().kinds
    shares: dict[int, float] = {}
    for some in _pieces(sorted({one.group_id for one in groups.values() if one.group_id is not None})):
        for group in ConsumerGroup.objects.filter(pk__in=some):
            share = offline_share(group, now, kinds)
            if share is not None and share > kinds.habit_offline_share:
                shares[group.pk] = share
    return {
        place: _("offline by habit: without a member for %(share)s of the last %(days)s days")
        % {"share": f"{shares[subject.group_id]:.0%}", "days": f"{kinds.habit_days:g}"}
        for place, subject in groups.items()
        if subject.group_id in shares
    }


def _pieces(ids: Sequence[int]) -> list[Sequence[int]]:
    return [ids[begin : begin + NAMED_AT_ONCE] for begin in range(0, len(ids), NAMED_AT_ONCE)]


def notes(rule: AlertRule, grid: Grid) -> list[str]:
    spec = SPECS[Measure(rule.measure)]
    said = [_("What held already when the range began counts from there.")]
    if grid.step_seconds > 60:
        words = {"minutes": grid.step_seconds // 60}
        said.append(
            _(
                "So many windows were looked at that one in %(minutes)s minutes had to do: what lasted for less may be "
                "missed. A shorter range, or fewer groups, is looked at by the minute."
            )
            % words
        )
    if rule.comparison == Comparison.IN:
        said.append(_("What stands still counts from when it stood, any other state from when it was judged."))
    if spec.note:
        said.append(str(spec.note))
    if rule.labels or rule.overrides:
        said.append(_("Notes and labels count as they are today."))
    if spec.subject == SubjectKind.GROUP and not spec.knows_exclusions:
        said.append(_("Whether a group is paused, or offline by habit, is known of today alone."))
    return said
