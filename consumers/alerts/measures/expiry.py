"""How soon brokers may delete the oldest message that each group has not consumed; and whether they will do so before
the group consumes it, at the pace at which its time lag rises.

Both estimates are those of the evaluation: the broker's retention, less the age of the first unconsumed message of a
queue.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from django.conf import settings
from django.db.models import Count, Max, Q
from django.utils.translation import gettext_lazy

from consumers.alerts.measured import Column, MeasureSpec, Metric, Series, Unit, number_column
from consumers.alerts.preview.values import Need
from consumers.alerts.preview.windows import Formula, Stored, windowed
from consumers.groups.overlay import Overlay
from consumers.groups.row import forecast_reason, is_forecast_partial
from consumers.groups.shown import UnknownWord
from consumers.models import Broker, Comparison, ConsumerGroup, Measure, QueueState, SubjectKind, TimeLagKind
from consumers.pipeline.kernel.trend import LONGEST_DRAIN_SECONDS, expires_in, expires_unconsumed
from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.states import MASTER, ExpiryForecast, RuleCode
from consumers.words.reasons import coded_reason

from .columns import judged_reason, lag_reason, time_lag_reason
from .scan import GroupScan, suppressed_by_habit

HOUR = 3600.0
# Rules of the evaluation: a queue in such a state has no lag by its nature.
NO_LAG_RULES = (RuleCode.NEVER_COMMITTED, RuleCode.NO_SUCH_QUEUE)
BrokerName = tuple[int, str]  # cluster id, name


def expiry(scan: GroupScan) -> Column:
    """Two queries. For a group without lag it is its brokers' retention. A wait that is a lower bound leaves at most so
    much time."""
    retained, waits = retention_seconds(), waiting()
    shortest = {cluster: _shortest(scan.overlay, cluster, retained) for cluster in scan.overlay.clusters}
    values: list[float | None] = []
    for row in scan.rows:
        if row.lag_messages == 0:
            values.append(shortest[row.cluster_id])
        elif row.lag_messages is None or row.time_lag_seconds is None:
            values.append(None)
        else:
            values.append(_soonest(row.cluster_id, waits.get(row.id, {}), retained))

    def reason(place: int) -> str:
        row = scan.rows[place]
        if row.lag_messages is None:
            return lag_reason(scan, place)
        if row.lag_messages and row.time_lag_seconds is None:
            return time_lag_reason(scan, place)
        if values[place] is not None:
            return coded_reason(AlertEvidence.TIME_LAG_AT_LEAST)
        return coded_reason(AlertEvidence.RETENTION_UNKNOWN)

    def is_bound(place: int) -> bool:
        row = scan.rows[place]
        return row.lag_messages != 0 and any(wait.is_bound for wait in waits.get(row.id, {}).values())

    return number_column(
        values,
        reason,
        lambda value: (
            coded_reason(AlertEvidence.EXPIRES_IN, left_seconds=value)
            if value
            else coded_reason(AlertEvidence.EXPIRED_MAYBE)
        ),
        suppressed=lambda place: suppressed_by_habit(scan, place),
        is_bound=is_bound,
    )


def retention_seconds() -> dict[BrokerName, float]:
    """Retention of brokers whose configuration was read. One query."""
    rows = Broker.objects.filter(broker_id=MASTER)
    found = rows.values_list("cluster_id", "name", "file_reserved_hours")
    return {(cluster, name): hours * HOUR for cluster, name, hours in found if hours is not None}


class LongestWait(NamedTuple):
    """Of a group's queues on one broker. `seconds` null: the wait of one of them is unknown. `is_bound`: one may have
    waited for longer.
    """

    seconds: float | None
    is_bound: bool


def waiting() -> dict[int, dict[str, LongestWait]]:
    """By group and broker. One query."""
    is_unknown = Q(time_lag_seconds=None) & ~Q(rule__in=NO_LAG_RULES)
    rows = QueueState.objects.filter(Q(time_lag_seconds__gt=0) | is_unknown).order_by()
    counted = rows.values_list("group_id", "queue__broker").annotate(
        longest=Max("time_lag_seconds"),
        unknown=Count("pk", filter=Q(time_lag_seconds=None)),
        bound=Count("pk", filter=Q(time_lag_kind=TimeLagKind.AT_LEAST)),
    )
    found: dict[int, dict[str, LongestWait]] = {}
    for group, broker, longest, unknown, bound in counted:
        found.setdefault(group, {})[broker] = LongestWait(None if unknown else longest, bool(bound))
    return found


def _soonest(cluster: int, waits: Mapping[str, LongestWait], retained: Mapping[BrokerName, float]) -> float | None:
    """Null if one broker's retention, or one wait, is unknown: that broker may delete first."""
    left: list[float] = []
    for broker, wait in waits.items():
        keeps = retained.get((cluster, broker))
        if keeps is None or wait.seconds is None:
            return None
        left.append(max(0.0, keeps - wait.seconds))
    return min(left, default=None)


def _shortest(overlay: Overlay, cluster: int, retained: Mapping[BrokerName, float]) -> float | None:
    """Null where one broker of the cluster does not report its retention."""
    found = [retained.get((cluster, broker.name)) for broker in overlay.clusters[cluster].brokers]
    known = [seconds for seconds in found if seconds is not None]
    return min(known) if known and len(known) == len(found) else None


def expires_unconsumed_column(scan: GroupScan) -> Column:
    """No query. Where nothing is expected to expire, the longest time that a forecast covers."""

    def value(place: int) -> float | None:
        row = scan.rows[place]
        if judged_reason(scan, place) is not None:
            return None
        if row.lag_messages == 0:
            return LONGEST_DRAIN_SECONDS
        is_partial = is_forecast_partial(row.judged_expiry_forecast, row.lag_messages)
        if row.outside_store is not None or (row.lag_messages is None and not is_partial):
            return None
        is_well = row.judged_expiry_forecast == ExpiryForecast.NONE
        return LONGEST_DRAIN_SECONDS if is_well else row.expires_unconsumed_seconds

    values = [value(place) for place in range(len(scan.rows))]

    def reason(place: int) -> str:
        row = scan.rows[place]
        if (why := judged_reason(scan, place)) is not None:
            return why
        if values[place] is not None:
            return coded_reason(AlertEvidence.EXPIRES_UNCONSUMED_AT_MOST, left_seconds=row.expires_unconsumed_seconds)
        return (
            lag_reason(scan, place) if row.lag_messages is None else forecast_reason(row.judged_expiry_forecast or "")
        )

    def is_bound(place: int) -> bool:
        row = scan.rows[place]
        return values[place] is not None and is_forecast_partial(row.judged_expiry_forecast, row.lag_messages)

    return number_column(
        values, reason, _forecast_words, suppressed=lambda place: suppressed_by_habit(scan, place), is_bound=is_bound
    )


def _forecast_words(value: float) -> str:
    if not value:
        return coded_reason(AlertEvidence.EXPIRED_MAYBE)
    if value >= LONGEST_DRAIN_SECONDS:
        return forecast_reason(ExpiryForecast.NONE)
    return coded_reason(AlertEvidence.EXPIRES_UNCONSUMED, left_seconds=value)


# The same over stored windows, for previews.


def _expires(stored: Stored, _: int) -> np.ndarray:
    """Without lag it is the brokers' retention."""
    left = expires_in(stored["agreed"], stored["time_lag_seconds"])
    return np.where(stored["lag_messages"] == 0, stored["shortest"], left)


def _expires_unconsumed(stored: Stored, windows: int) -> np.ndarray:
    lag, time_lag = stored["lag_messages"], stored["time_lag_seconds"]
    columns = {
        "lag_messages": lag,
        "time_lag_seconds": time_lag,
        "consume_rate": stored["consume_rate"],
        "allowance_seconds": np.full(lag.shape, float(settings.JUDGE["allowance_seconds"])),
    }
    slope = _slopes(time_lag, windows, float(stored["step_seconds"]))
    found = expires_unconsumed(columns, expires_in(stored["agreed"], time_lag), slope)
    return np.where(np.isnan(lag), np.nan, np.minimum(found, LONGEST_DRAIN_SECONDS))


def _slopes(time_lag: np.ndarray, windows: int, step_seconds: float) -> np.ndarray:
    """Of the windows that end with each: from the median of the first third to that of the last, which a single spike
    does not move. NaN where one of these is missing."""
    third = max(1, windows // 3)
    count = max(0, time_lag.shape[1] - windows + 1)
    first, last = (
        np.median([time_lag[:, begin + step : begin + step + count] for step in range(third)], axis=0)
        for begin in (0, windows - third)
    )
    found = np.full(time_lag.shape, np.nan)
    found[:, time_lag.shape[1] - count :] = (last - first) / ((windows - third) * step_seconds)
    return found


def _retention(places: Mapping[int, int], rows: np.ndarray) -> Stored:
    """For how many seconds the brokers of each group's cluster retain messages, by their current configuration.

    `shortest` is NaN where one of them does not report it. `agreed` is NaN also where they differ: windows of groups do
    not store on which broker a message waited.
    """
    known, reported = retention_seconds(), dict[int, list[float | None]]()
    for cluster, name in Broker.objects.filter(broker_id=MASTER).values_list("cluster_id", "name"):
        reported.setdefault(cluster, []).append(known.get((cluster, name)))
    cluster_of = {places[group]: cluster for group, cluster in _clusters() if group in places}
    of_rows = [np.array(reported.get(cluster_of.get(place, -1), [None]), float) for place in rows.tolist()]
    shortest, longest = np.array([(own.min(), own.max()) for own in of_rows]).reshape(-1, 2, 1).swapaxes(0, 1)
    return {"shortest": shortest, "agreed": np.where(shortest == longest, shortest, np.nan)}


def _clusters() -> Iterator[tuple[int, int]]:
    return ConsumerGroup.objects.order_by().values_list("pk", "cluster_id").iterator()


MEASURES = (
    MeasureSpec(
        code=Measure.EXPIRY,
        unit=Unit.SECONDS,
        comparisons=(Comparison.BELOW,),
        reads={SubjectKind.GROUP: expiry},
        past=windowed(
            Formula(("lag_messages", "time_lag_seconds"), _expires, beside=_retention),
            needs=(Need.DISPATCHED, Need.EVALUATED),
        ),
        note=gettext_lazy(
            "Uses today's message retention of the brokers; unknown where the brokers of a cluster differ."
        ),
        is_of_waiting=True,
        metric=Metric(
            "expires_in_seconds",
            "How soon brokers may delete the oldest message that the group has not consumed.",
            UnknownWord.EXPIRY_UNKNOWN,
            ("lag_messages", "time_lag_seconds"),
            bound="at_most",
        ),
        series=Series("consumerscope_group_expires_in_seconds", ("offline_by_habit",)),
    ),
    MeasureSpec(
        code=Measure.EXPIRES_UNCONSUMED,
        unit=Unit.SECONDS,
        comparisons=(Comparison.BELOW,),
        most=LONGEST_DRAIN_SECONDS,
        reads={SubjectKind.GROUP: expires_unconsumed_column},
        past=windowed(
            Formula(
                ("lag_messages", "time_lag_seconds", "consume_rate"),
                _expires_unconsumed,
                seconds=600,
                least=2,
                beside=_retention,
            ),
            needs=(Need.DISPATCHED, Need.EVALUATED),
        ),
        note=gettext_lazy(
            "Uses the time lag of whole groups over 10 min, not that of each queue, and today's message retention of "
            "the brokers; unknown where the brokers of a cluster differ."
        ),
        is_of_waiting=True,
        metric=Metric(
            "expires_unconsumed_seconds",
            "When messages may be deleted before the group consumes them, at this pace; 30 days: not within them.",
            UnknownWord.EXPIRY_FORECAST_UNKNOWN,
            ("is_fresh", "lag_messages"),
        ),
        series=Series(
            "consumerscope_group_expires_unconsumed_seconds",
            ("offline_by_habit",),
            bound=("consumerscope_unknown", f'reason="{UnknownWord.EXPIRY_FORECAST_PARTIAL.value}"'),
        ),
    ),
)
