"""Recent DLQ inflow, rebalances and repeats, counted by the pipeline; and for how long members have been changing."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.db.models import Count, Sum

from consumers.alerts.measured import (
    Column,
    MeasureSpec,
    Metric,
    PastSource,
    Series,
    Unit,
    evidence_parts,
    number_column,
)
from consumers.alerts.preview.judged import rebalance_values, repeat_values
from consumers.alerts.preview.values import Need
from consumers.alerts.preview.windows import Formula, summed, unsettled_values, windowed
from consumers.groups.shown import UnknownWord
from consumers.models import GroupWindow, Measure, Rebalance, SubjectKind
from consumers.overview.tally import EVALUATION_LATE
from consumers.pipeline.slices import floor
from consumers.queries.unwatched import Span, longest_of
from consumers.rebalances.flapping import Unsettled, episodes_within_hour, unsettled as unsettled_groups
from consumers.repeats import HourOfRepeats, repeats_within_hour
from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.times import iso
from consumers.words.reasons import coded_reason

from .columns import judged_reason
from .scan import GroupScan, GroupValues


# Repeats within the last hour: events of a proven or likely cause, and messages that were redelivered at least.
def repeat_events(scan: GroupScan) -> Column:
    """One query."""

    def words(value: float) -> str:
        return coded_reason(AlertEvidence.REPEATS, found_repeats=round(value))

    return _column(scan, lambda hour: hour.events, words)


def redelivered(scan: GroupScan) -> Column:
    """The least that is known. One query."""

    def words(value: float) -> str:
        return coded_reason(AlertEvidence.REDELIVERED, least_messages=round(value))

    return _column(scan, lambda hour: hour.low, words)


def _column(scan: GroupScan, number: Callable[[HourOfRepeats], int], words: Callable[[float], str]) -> Column:
    found = repeats_within_hour(scan.now)
    return _of_the_hour(scan, lambda row: number(found.get(row.id, HourOfRepeats())), words)


def _of_the_hour(scan: GroupScan, number: Callable[[GroupValues], int], words: Callable[[float], str]) -> Column:
    """A number of the last hour. Of a group that was watched a zero is measured; while a part of the hour was not, the
    number is the least that is possible."""
    values = [
        None if _unwatched(scan, place) is not None else float(number(row)) for place, row in enumerate(scan.rows)
    ]

    def spans(place: int) -> Sequence[Span]:
        return scan.unwatched_of_hour.get(scan.rows[place].id, ())

    def doubt(place: int) -> str:
        begin, end = longest_of(spans(place))
        return coded_reason(AlertEvidence.PARTLY_WATCHED, begin=iso(begin), end=iso(end))

    def reason(place: int) -> str:
        return _unwatched(scan, place) or (doubt(place) if spans(place) else "")

    def evidence(place: int) -> str:
        value = values[place]
        if value is None:
            return reason(place)
        return evidence_parts([words(value), doubt(place)]) if spans(place) else words(value)

    return Column(values, reason, evidence, is_bound=lambda place: bool(spans(place)))


def _unwatched(scan: GroupScan, place: int) -> str | None:
    """Why nobody knows what members did: nothing was evaluated, or a broker does not say who they are."""
    if reason := judged_reason(scan, place):
        return reason
    row = scan.rows[place]
    return scan.members_reason(place) if row.members is None else None


# Whether the members of a group are known is retained for as long as readings are.
WATCHED = frozenset({Need.SCRAPED, Need.MEMBERS})


def _past(*, messages: bool) -> PastSource:
    return PastSource(
        table="readings",
        read=lambda scan: repeat_values(scan.groups, scan.grid, scan.judged_moments, messages=messages),
        needs=WATCHED,
    )


MINUTE = timedelta(minutes=1)
WINDOWS = 5


def dlq_inflow(scan: GroupScan) -> Column:
    """Over the last five complete minutes that were evaluated: the newest windows are stored one run late. One
    query.
    """
    until = scan.explainer.judged_until
    end = None if until is None else floor(until, MINUTE)
    found = {} if end is None else _inflows(end)
    values = [None if judged_reason(scan, place) else found.get(row.id) for place, row in enumerate(scan.rows)]

    def words(value: float) -> str:
        assert end is not None
        return coded_reason(AlertEvidence.DLQ_INFLOW, dead_messages=round(value), end=iso(end))

    def reason(place: int) -> str:
        return judged_reason(scan, place) or coded_reason(AlertEvidence.INFLOW_INCOMPLETE)

    return number_column(values, reason, words)


def _inflows(end: datetime) -> dict[int, int]:
    """Groups with complete windows only: a sum over some windows is not the sum."""
    windows = GroupWindow.objects.filter(step_seconds=60, start__gte=end - WINDOWS * MINUTE, start__lt=end)
    rows = windows.order_by().values_list("group_id").annotate(Sum("into_dlq"), Count("into_dlq"))
    return {group: total for group, total, known in rows if known == WINDOWS}


def rebalances(scan: GroupScan) -> Column:
    """Episodes with a rebalance within the last hour. One query."""
    found = episodes_within_hour(scan.now)

    def words(value: float) -> str:
        return coded_reason(AlertEvidence.REBALANCES, rebalance_episodes=round(value))

    return _of_the_hour(scan, lambda row: found.get(row.id, 0), words)


# For how long the members of each group have been changing without settling.
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
    return _unwatched(scan, place) or (str(EVALUATION_LATE) if scan.explainer.nothing_is_judged else None)


MEASURES = (
    MeasureSpec(
        code=Measure.REPEATS,
        unit=Unit.COUNT,
        reads={SubjectKind.GROUP: repeat_events},
        past=_past(messages=False),
        metric=Metric(
            "repeat_events_hour",
            "Repeats within the last hour whose cause is proven or likely.",
            UnknownWord.PARTLY_WATCHED,
            ("is_fresh", "members"),
            bound="at_least",
        ),
    ),
    MeasureSpec(
        code=Measure.REDELIVERED,
        unit=Unit.MESSAGES,
        reads={SubjectKind.GROUP: redelivered},
        past=_past(messages=True),
        metric=Metric(
            "redelivered_messages_hour",
            "Messages that were redelivered within the last hour, at least.",
            UnknownWord.PARTLY_WATCHED,
            ("is_fresh", "members"),
            bound="at_least",
        ),
    ),
    MeasureSpec(
        code=Measure.UNSETTLED,
        unit=Unit.SECONDS,
        is_age=True,
        reads={SubjectKind.GROUP: unsettled},
        past=PastSource(
            table="readings",
            read=lambda scan: unsettled_values(scan.groups, scan.grid, scan.judged_moments),
            needs=WATCHED,
        ),
        knows_exclusions=True,
        metric=Metric(
            "unsettled_seconds",
            "How long members have been changing without coming to rest; 0 where they have.",
            UnknownWord.UNSETTLED_UNKNOWN,
            ("is_fresh", "members"),
        ),
        series=Series("consumerscope_group_unsettled_seconds", ("rollout",)),
    ),
    MeasureSpec(
        code=Measure.DLQ_INFLOW,
        unit=Unit.MESSAGES,
        reads={SubjectKind.GROUP: dlq_inflow},
        past=windowed(
            Formula(("into_dlq",), lambda stored, windows: summed(stored["into_dlq"], windows), seconds=300),
            needs=(Need.EVALUATED,),
        ),
        metric=Metric(
            "dlq_inflow_messages",
            "Messages into the group's dead-letter topic over the last five evaluated minutes.",
            UnknownWord.DLQ_INFLOW_UNKNOWN,
            ("is_fresh",),
        ),
    ),
    MeasureSpec(
        code=Measure.REBALANCES,
        unit=Unit.COUNT,
        reads={SubjectKind.GROUP: rebalances},
        past=PastSource(
            table="readings",
            read=lambda scan: rebalance_values(scan.groups, scan.grid, scan.judged_moments),
            needs=WATCHED,
        ),
        metric=Metric(
            "rebalances_hour",
            "Rebalances in the last hour; those in a row, as of a rollout, count once.",
            UnknownWord.PARTLY_WATCHED,
            ("is_fresh", "members"),
            bound="at_least",
        ),
    ),
)
