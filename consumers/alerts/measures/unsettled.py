"""For how long the members of each group have been changing without settling."""

from datetime import datetime

from consumers.alerts.measured import Column, MeasureSpec, Metric, PastSource, Unit, number_column
from consumers.alerts.preview.windows import unsettled_values
from consumers.groups.shown import UnknownWord
from consumers.models import Measure, Rebalance, SubjectKind
from consumers.overview.queries import EVALUATION_LATE
from consumers.rebalances.flapping import Unsettled, unsettled as unsettled_groups
from consumers.vocabulary.alerts import AlertEvidence
from consumers.words.reasons import coded_reason, membership_reason

from .columns import judged_reason
from .scan import GroupScan


def unsettled(scan: GroupScan) -> Column:
    """0 where the members have settled. One query; some more where any group has not settled."""
    until = scan.explainer.judged_until
    found = {} if until is None else unsettled_groups(Rebalance.objects.all(), until)

    def of(place: int) -> Unsettled | None:
        return found.get(scan.rows[place].id)

    def value(place: int) -> float | None:
        if _why_unknown(scan, place) is not None:
            return None
        one = of(place)
        return 0.0 if one is None else one.seconds

    def reason(place: int) -> str:
        one = of(place)
        return _why_unknown(scan, place) or ("" if one is None else one.reason)

    def words(seconds: float) -> str:
        if not seconds:
            return coded_reason(AlertEvidence.STABLE)
        return coded_reason(AlertEvidence.CHANGING, changing_seconds=seconds)

    def since(place: int) -> datetime | None:
        one = of(place)
        return one.since if one is not None and values[place] else None

    def suppressed(place: int) -> str | None:
        one = of(place)
        return coded_reason(AlertEvidence.ROLLOUT) if one is not None and one.is_rollout else None

    values = [value(place) for place in range(len(scan.rows))]
    return number_column(values, reason, words, since=since, suppressed=suppressed)


def _why_unknown(scan: GroupScan, place: int) -> str | None:
    if reason := judged_reason(scan, place):
        return reason
    if scan.explainer.nothing_is_judged:
        return str(EVALUATION_LATE)
    row = scan.rows[place]
    return membership_reason(row.membership_error) if row.members is None else None


MEASURES = (
    MeasureSpec(
        code=Measure.UNSETTLED,
        unit=Unit.SECONDS,
        reads={SubjectKind.GROUP: unsettled},
        past=PastSource(
            table="readings", read=lambda scan: unsettled_values(scan.groups, scan.grid, scan.judged_moments)
        ),
        knows_exclusions=True,
        metric=Metric(
            "unsettled_seconds",
            "How long members have been changing without coming to rest; 0 where they have.",
            UnknownWord.UNSETTLED_UNTOLD,
            ("is_fresh", "members"),
        ),
    ),
)
