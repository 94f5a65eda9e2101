"""A group's state: that of the worst queue of its own topics. Its retry topic is evaluated and shown separately.

The messages of its retry topic count in its time lag, as they do in its lag: they wait from when they were due.
"""

import numpy as np
import pyarrow as pa

from consumers.pipeline.durations import Durations
from consumers.vocabulary.states import NO_LAG_REASONS, ExpiryForecast, RuleCode, State

from .columns import GROUP, Case, Columns, Texts, arrow, first_rows, key_numbers
from .numbers import Seen, window_numbers
from .readings import Lives
from .segments import Groups, at_rows
from .time_lag import AT_LEAST, INTERPOLATED, UNKNOWN
from .trend import drain_seconds, with_trend

LISTS = ("readings", "lags", "hands", "minutes")


def evaluated(
    queues: pa.Table, until_us: int, durations: Durations, lives: Lives | None = None, seen: Seen | None = None
) -> pa.Table:
    """`queues`: a row a queue, with its names and kind, `hands` and `minutes` (lists), and what the rules ask of
    members, owners, kinds and the earlier state. Thresholds that a group does not set are those of the site. Without
    `seen` its `readings` and `lags` are lists, too."""
    columns = _with_thresholds(Columns(queues), durations)
    seen = seen or Seen.of(columns.table)
    columns = columns.with_columns(window_numbers(columns.table, seen, until_us, durations, lives))
    found = with_trend(columns, until_us, durations).table
    return found.drop_columns([name for name in LISTS if name in found.column_names])


def _with_thresholds(columns: Columns, durations: Durations) -> Columns:
    return columns.with_columns(
        {
            name: np.where(np.isnan(columns[name]), getattr(durations, name), columns[name])
            for name in ("allowance_seconds", "behind_seconds")
        }
    )


WORST_FIRST = list(State)


def group_states(judged: pa.Table) -> pa.Table:
    """One row per group: the worst queue's state, rule, detail and since, completeness, time lag with its kind, rates.

    A group of which only the retry topic was read has no own queue: UNKNOWN.
    """
    columns = Columns(judged)
    numbers = key_numbers(judged, GROUP)
    groups = Groups(numbers, int(numbers.max(initial=-1)) + 1)
    is_retry = columns.is_in("kind", ["retry"])
    waits = ~columns.is_in("newest_reason", NO_LAG_REASONS)
    counts = ~is_retry & waits
    queues = groups.count_if(~is_retry)
    full = groups.count_if(~is_retry & columns["has_full_window"])
    lag = groups.whole_sum(columns["lag_messages"], counts)
    rates = {name: groups.whole_sum(columns[name], counts) for name in ("consume_rate", "produce_rate")}
    drains = np.where(lag > 0, drain_seconds(lag, rates["consume_rate"], rates["produce_rate"]), np.nan)
    seconds, kind = _time_lag(columns, groups, waits)
    found = columns.table.select(GROUP).take(pa.array(first_rows(numbers)))
    named = {
        **_worst(columns, groups, ~is_retry),
        "queues": pa.array(queues),
        "completeness": pa.array(np.where(queues > 0, full / np.maximum(queues, 1), 0.0)),
        "time_lag_seconds": arrow(seconds),
        "time_lag_kind": kind.arrow(),
        **{name: arrow(values) for name, values in rates.items()},
        "drain_seconds": arrow(drains),
        **_expiry(columns, groups, counts),
        "retry_rate": arrow(groups.whole_sum(columns["produce_rate"], is_retry)),
    }
    for name, column in named.items():
        found = found.append_column(name, column)
    return found


def _worst(columns: Columns, groups: Groups, is_own: np.ndarray) -> dict[str, pa.ChunkedArray]:
    """Of equals the longest time lag stands for them, then the largest lag."""
    states = Texts.of(columns.table["state"])
    badness = np.array([-WORST_FIRST.index(State(state)) for state in states.values] or [0])[states.codes]
    numbers = [np.nan_to_num(columns[name], nan=-1.0) for name in ("time_lag_seconds", "lag_messages")]
    place = [Texts.of(columns.table[name]).ranks() for name in ("topic", "broker")]
    row = groups.last(badness, *numbers, *place, columns["queue_id"], chosen=is_own)
    worst = columns.table.take(pa.array(row, mask=row < 0))
    return {
        "state": worst["state"].fill_null(State.UNKNOWN),
        "rule": worst["rule"].fill_null(RuleCode.NO_OWN_QUEUE),
        "detail": worst["detail"],
        "since": worst["since"],
        **{f"worst_{name}": worst[name] for name in ("topic", "broker", "queue_id")},
    }


def _expiry(columns: Columns, groups: Groups, counts: np.ndarray) -> dict[str, pa.Array]:
    """Returns the expiry forecast of the queue that loses messages first. In a group with a queue of unknown course:
    the forecast of the other queues, or why there is none."""
    seconds = columns["expires_unconsumed_seconds"]
    first = groups.min(seconds, counts & np.isfinite(seconds))
    is_unknown = counts & np.isnan(seconds)
    lacks = {
        ExpiryForecast.NO_RETENTION: np.isnan(columns["reserved_seconds"]),
        ExpiryForecast.NO_TIME_LAG: np.isnan(columns["time_lag_seconds"]),
        ExpiryForecast.NO_TREND: is_unknown,
    }
    cases: list[Case] = [
        (~np.isnan(first) & groups.any(is_unknown), ExpiryForecast.AT_MOST),
        (~np.isnan(first), ExpiryForecast.EXPECTED),
        *((groups.any(is_unknown & lacking), code) for code, lacking in lacks.items()),
        (~groups.any(counts), ExpiryForecast.UNKNOWN),
    ]
    every = np.ones(groups.count, bool)
    forecast = Texts.chosen([*cases, (every, ExpiryForecast.NONE)], groups.count)
    return {"expires_unconsumed_seconds": arrow(first), "expiry_forecast": forecast.arrow()}


def _time_lag(columns: Columns, groups: Groups, waits: np.ndarray) -> tuple[np.ndarray, Texts]:
    seconds, kinds = columns["time_lag_seconds"], Texts.of(columns.table["time_lag_kind"])
    row = groups.last(seconds, kinds.ranks(), chosen=waits & ~np.isnan(seconds))
    longest = at_rows(seconds, row)
    rival = seconds + np.nan_to_num(columns["time_lag_error_seconds"])
    # The longest of the known ones is a lower bound where another queue's time lag has no upper end.
    is_partial = ~np.isnan(longest) & groups.any(waits & kinds.is_in([AT_LEAST, UNKNOWN]))
    # Another queue, whose time lag is less sure, may be the longest.
    is_rivalled = groups.max(rival, waits & kinds.is_in([INTERPOLATED])) > longest
    cases: list[Case] = [(is_partial, AT_LEAST), (is_rivalled, INTERPOLATED)]
    every = np.ones(groups.count, bool)
    return longest, Texts.chosen([*cases, (every, kinds.at(row).otherwise(UNKNOWN))], groups.count)
