"""Repeats within the last hour: events of a proven or likely cause, and messages that were redelivered at least."""

from collections.abc import Callable

from consumers.alerts.measured import Column, MeasureSpec, Metric, PastSource, Unit, number_column
from consumers.alerts.preview.judged import repeat_values
from consumers.groups.shown import UnknownWord
from consumers.models import Measure, SubjectKind
from consumers.repeats.queries import HourOfRepeats, repeats_within_hour
from consumers.vocabulary.alerts import AlertEvidence
from consumers.words.reasons import coded_reason, membership_reason

from .columns import judged_reason
from .scan import GroupScan


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

    def why(place: int) -> str | None:
        row = scan.rows[place]
        if reason := judged_reason(scan, place):
            return reason
        return membership_reason(row.membership_error) if row.membership_at is None else None

    values = [
        # Without a repeat a group that was watched has a measured zero.
        None if why(place) is not None else float(number(found.get(row.id, HourOfRepeats())))
        for place, row in enumerate(scan.rows)
    ]
    return number_column(values, lambda place: why(place) or "", words)


def _past(*, messages: bool) -> PastSource:
    return PastSource(
        table="windows_60",
        read=lambda scan: repeat_values(scan.groups, scan.grid, scan.judged_moments, messages=messages),
    )


MEASURES = (
    MeasureSpec(
        code=Measure.REPEATS,
        unit=Unit.COUNT,
        reads={SubjectKind.GROUP: repeat_events},
        past=_past(messages=False),
        metric=Metric(
            "repeat_events_hour",
            "Repeats within the last hour whose cause is proven or likely.",
            UnknownWord.MEMBERS_NOT_ASKED,
            ("is_fresh", "members"),
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
            UnknownWord.MEMBERS_NOT_ASKED,
            ("is_fresh", "members"),
        ),
    ),
)
