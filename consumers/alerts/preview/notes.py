"""What to know of a preview beside its numbers."""

from django.utils.translation import gettext as _

from consumers.alerts.measures.registry import SPECS
from consumers.models import AlertRule, Comparison, Measure, SubjectKind


def notes(rule: AlertRule, step_seconds: int) -> list[str]:
    """What to know of a preview of the rule: made when it is shown, in the language of who reads it."""
    spec = SPECS[Measure(rule.measure)]
    sentences = [_("A condition that was met before the range counts from the start of the range.")]
    if step_seconds > 60:
        words = {"minutes": step_seconds // 60}
        sentences.append(
            _(
                "Uses one window in %(minutes)s minutes, because the selection is large: shorter conditions may "
                "be missed. Choose a shorter range or fewer groups to use every minute."
            )
            % words
        )
    if rule.comparison == Comparison.IN:
        sentences.append(
            _(
                "The state of an offset that does not move counts from its last move, any other state from "
                "its evaluation."
            )
        )
    if spec.note:
        sentences.append(str(spec.note))
    if rule.labels or rule.overrides:
        sentences.append(_("Uses today's notes and labels."))
    if spec.subject == SubjectKind.GROUP and not spec.knows_exclusions:
        sentences.append(_("Whether a group is paused, or offline by habit, is known for today only."))
    return sentences
