"""Columns of numbers that the scan itself contains."""

from collections.abc import Callable
from datetime import datetime

import numpy as np

from consumers.alerts.measured import Column, MeasureSpec, Metric, PastSource, Series, Unit, number_column
from consumers.alerts.preview.values import Need
from consumers.alerts.preview.windows import Formula, Stored, member_values, summed, windowed
from consumers.groups.row import YOUNG_LAG
from consumers.groups.shown import NOT_READ_YET, UnknownWord, queues_reason
from consumers.models import Comparison, Measure, SubjectKind, TimeLagKind
from consumers.pipeline.kernel.trend import drain_seconds
from consumers.vocabulary.alerts import AlertEvidence
from consumers.words.reasons import coded_reason, lazy_reason

from .scan import GroupScan, parsed, suppressed_waiting, suppressed_without_members, why_outside
from .topic_parts import TopicScan

Reason = Callable[[int], str]
NOT_REPORTED = lazy_reason(AlertEvidence.NOT_IN_RANGE)


def lag(scan: GroupScan) -> Column:
    return number_column(
        [row.lag_messages_at_least if row.is_lag_bound else row.lag_messages for row in scan.rows],
        lambda place: lag_reason(scan, place),
        lambda value: coded_reason(AlertEvidence.LAG, lag_messages=round(value)),
        suppressed=lambda place: suppressed_waiting(scan, place),
        is_bound=lambda place: scan.rows[place].is_lag_bound,
    )


def lag_reason(scan: GroupScan, place: int) -> str:
    row = scan.rows[place]
    if reason := scan.unread_reason(place):
        return reason
    if row.total_changed_at is None:
        return str(NOT_READ_YET)
    if (outside := why_outside(row)) is not None:
        return outside
    slaves = scan.overlay.slaves_of(row.cluster_id)
    return queues_reason(row.total_unknown_reason, row.total_lost_queues, slaves)


def time_lag(scan: GroupScan) -> Column:
    return number_column(
        [row.time_lag_seconds for row in scan.rows],
        lambda place: time_lag_reason(scan, place),
        lambda value: coded_reason(AlertEvidence.OLDEST_WAITS, waited_seconds=value),
        suppressed=lambda place: suppressed_waiting(scan, place),
        is_bound=lambda place: scan.rows[place].is_time_lag_bound,
    )


def time_lag_reason(scan: GroupScan, place: int) -> str:
    if reason := judged_reason(scan, place):
        return reason
    row = scan.rows[place]
    if row.lag_messages is None:
        return lag_reason(scan, place)
    if row.is_time_lag_bound:
        return coded_reason(AlertEvidence.TIME_LAG_AT_LEAST)
    return str(YOUNG_LAG) if row.judged_since is not None else str(NOT_REPORTED)


def judged_reason(scan: GroupScan, place: int) -> str | None:
    """Why no evaluated number of the group is valid now."""
    return scan.unread_reason(place) or scan.unjudged_reason(place)


def drain(scan: GroupScan) -> Column:
    """Time to drain. Without backlog it is zero; a backlog that does not drain has no number of seconds."""
    return number_column(
        [0.0 if row.lag_messages == 0 else row.drain_seconds for row in scan.rows],
        lambda place: _drain_reason(scan, place),
        lambda value: coded_reason(AlertEvidence.DRAINS_IN, drain_seconds=value),
        suppressed=lambda place: suppressed_waiting(scan, place),
    )


def _drain_reason(scan: GroupScan, place: int) -> str:
    if reason := judged_reason(scan, place):
        return reason
    if scan.rows[place].lag_messages is None:
        return lag_reason(scan, place)
    return coded_reason(AlertEvidence.NOT_DRAINING)


def expired(scan: GroupScan) -> Column:
    return number_column(
        [row.expired_messages for row in scan.rows],
        lambda place: _expired_reason(scan, place),
        lambda value: coded_reason(AlertEvidence.EXPIRED, expired_messages=round(value)),
    )


def _expired_reason(scan: GroupScan, place: int) -> str:
    if scan.rows[place].lag_messages is None:
        return lag_reason(scan, place)
    return coded_reason(AlertEvidence.MIN_OFFSET_UNREAD)


def retry_share(scan: GroupScan) -> Column:
    def reason(place: int) -> str:
        unknown_reason = parsed(scan.rows[place].volumes_unknown).get("retry_share")
        if reason := judged_reason(scan, place):
            return reason
        if unknown_reason is None:
            return str(NOT_REPORTED)
        return coded_reason(AlertEvidence.VOLUME, volume_reason=unknown_reason)

    return number_column(
        [row.retry_share for row in scan.rows],
        reason,
        lambda value: coded_reason(AlertEvidence.RETRY_SHARE, share=f"{value:.3g}"),
    )


def members(scan: GroupScan) -> Column:
    def reason(place: int) -> str:
        return scan.unread_reason(place) or scan.members_reason(place)

    def since(place: int) -> datetime | None:
        row = scan.rows[place]
        return row.offline_since if row.members == 0 else None

    return number_column(
        [row.members for row in scan.rows],
        reason,
        lambda value: (
            coded_reason(AlertEvidence.MEMBERS, present_members=round(value))
            if value
            else coded_reason(AlertEvidence.NO_MEMBER)
        ),
        since=since,
        suppressed=lambda place: suppressed_without_members(scan, place),
    )


def lag_of_topic(of: TopicScan) -> Column:
    scan, parts = of.scan, of.parts
    return number_column(
        [part.lag_messages for part in parts],
        lambda place: parts[place].lag_reason,
        lambda value: coded_reason(AlertEvidence.LAG, lag_messages=round(value)),
        suppressed=lambda place: suppressed_waiting(scan, place),
        is_bound=lambda place: parts[place].bound is not None,
    )


def time_lag_of_topic(of: TopicScan) -> Column:
    scan, parts = of.scan, of.parts

    def value(place: int) -> float | None:
        part = parts[place]
        if part.lag_messages == 0:
            return None if part.bound is not None else 0.0
        return None if scan.unjudged_reason(place) else part.time_lag_seconds

    def reason(place: int) -> str:
        part = parts[place]
        if not part.lag_messages:
            return part.lag_reason
        if (late := scan.unjudged_reason(place)) is not None:
            return late
        if part.is_time_lag_bound and part.time_lag_seconds is not None:
            return part.bound or coded_reason(AlertEvidence.TIME_LAG_AT_LEAST)
        return str(YOUNG_LAG)

    return number_column(
        [value(place) for place in range(len(parts))],
        reason,
        lambda value: coded_reason(AlertEvidence.OLDEST_WAITS, waited_seconds=value),
        suppressed=lambda place: suppressed_waiting(scan, place),
        is_bound=lambda place: parts[place].is_time_lag_bound,
    )


# The same numbers over stored windows, for previews.


def _drained(stored: Stored, _: int) -> np.ndarray:
    """Time to drain from windows: without backlog zero; a backlog that does not drain at this rate has none."""
    lag = stored["lag_messages"]
    return np.where(lag == 0, 0.0, drain_seconds(lag, stored["consume_rate"], stored["produce_rate"]))


def _retry_shares(stored: Stored, windows: int) -> np.ndarray:
    retried, consumed = (summed(stored[name], windows) for name in ("into_retry", "consumed"))
    return np.divide(retried, consumed, out=np.full(consumed.shape, np.nan), where=consumed > 0)


# Reasons of consumerscope_group_excluded for which rules exclude the lag of a group.
NOT_WAITING = ("paused", "offline_by_habit")

MEASURES = (
    MeasureSpec(
        code=Measure.LAG,
        unit=Unit.MESSAGES,
        reads={SubjectKind.GROUP: lag, SubjectKind.TOPIC: lag_of_topic},
        past=windowed(
            Formula(("lag_messages",), lambda stored, _: stored["lag_messages"]),
            "lag_messages",
            needs=(Need.DISPATCHED_OR_BOUND,),
        ),
        is_of_waiting=True,
        series=Series(
            "consumerscope_group_lag_messages",
            NOT_WAITING,
            bounds="consumerscope_group_lag_messages_at_least",
            bounds_if=UnknownWord.DISPATCH_BEHIND.value,
        ),
    ),
    MeasureSpec(
        code=Measure.TIME_LAG,
        unit=Unit.SECONDS,
        reads={SubjectKind.GROUP: time_lag, SubjectKind.TOPIC: time_lag_of_topic},
        past=windowed(
            Formula(("time_lag_seconds",), lambda stored, _: stored["time_lag_seconds"]),
            "time_lag_seconds",
            needs=(Need.DISPATCHED_OR_BOUND, Need.EVALUATED_UNLESS_ZERO),
        ),
        is_of_waiting=True,
        series=Series(
            "consumerscope_group_time_lag_seconds",
            NOT_WAITING,
            bound=("consumerscope_group_time_lag_seconds", f'kind="{TimeLagKind.AT_LEAST}"'),
        ),
    ),
    MeasureSpec(
        code=Measure.DRAIN,
        unit=Unit.SECONDS,
        reads={SubjectKind.GROUP: drain},
        past=windowed(
            Formula(("lag_messages", "consume_rate", "produce_rate"), _drained),
            needs=(Need.DISPATCHED, Need.EVALUATED_UNLESS_ZERO),
        ),
        is_of_waiting=True,
        metric=Metric(
            "drain_seconds",
            "Until the group has caught up, at its rates; 0 where nothing waits.",
            UnknownWord.DRAIN_UNKNOWN,
            ("is_fresh", "lag_messages"),
        ),
        series=Series("consumerscope_group_drain_seconds", NOT_WAITING),
    ),
    MeasureSpec(
        code=Measure.EXPIRED,
        unit=Unit.MESSAGES,
        reads={SubjectKind.GROUP: expired},
        series=Series("consumerscope_group_expired_messages"),
    ),
    MeasureSpec(
        code=Measure.RETRY_SHARE,
        unit=Unit.SHARE,
        reads={SubjectKind.GROUP: retry_share},
        past=windowed(Formula(("into_retry", "consumed"), _retry_shares, seconds=3600), needs=(Need.EVALUATED,)),
        series=Series("consumerscope_group_retry_share"),
    ),
    MeasureSpec(
        code=Measure.MEMBERS,
        unit=Unit.COUNT,
        comparisons=(Comparison.ABOVE, Comparison.BELOW),
        reads={SubjectKind.GROUP: members},
        past=PastSource(table="readings", read=member_values, needs=frozenset({Need.SCRAPED})),
        series=Series("consumerscope_group_members", (*NOT_WAITING, "pulling", "broadcasting")),
    ),
)
