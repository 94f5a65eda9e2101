"""What is to be known beside the numbers of a preview, in sentences."""

from django.utils.translation import gettext as _

from consumers.alerts.rules.facts import FACTS
from consumers.models import AlertRule, Comparison, Measure, SubjectKind

from .grid import Grid
from .left_alone import KNOWN_THEN


def notes(rule: AlertRule, grid: Grid) -> list[str]:
    measure = Measure(rule.measure)
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
    if measure == Measure.UNKNOWN:
        said.append(_("Only the lag of groups is looked at, not their state."))
    if measure == Measure.EXPIRY:
        said.append(
            _("How long brokers keep messages is as they say today; where those of a cluster differ, it is not known.")
        )
    if measure == Measure.READING_AGE:
        said.append(_("Where no cluster was read at all, one incident of the whole site stands for those of clusters."))
    if rule.labels or rule.overrides:
        said.append(_("Notes and labels count as they are today."))
    if FACTS[measure].subject == SubjectKind.GROUP and measure not in KNOWN_THEN:
        said.append(_("Whether a group is paused, or offline by habit, is known of today alone."))
    return said
