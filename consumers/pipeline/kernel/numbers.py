"""The numbers of a queue's window that the rules look at.

"Window" is what lies within the span before `until`; how long an offset stood still is looked up a little further back.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.pipeline.durations import Durations

from .columns import bools, numbers, whole
from .readings import Hands, Readings, Restarts, steps
from .segments import MICROSECONDS, Segments, at_rows, seconds

EXACT, INTERPOLATED, AT_LEAST, UNKNOWN = "exact", "interpolated", "at_least", "unknown"
KNOWN_KINDS = (EXACT, INTERPOLATED)
Found = dict[str, "np.ndarray | pa.Array"]


class TimeLags:
    """The time lags of the readings that are behind, one row each: (at_us, seconds, kind, error_seconds)."""

    def __init__(self, lists: pa.ListArray) -> None:
        rows = lists.flatten()
        self.segments = Segments.of_lists(lists)
        self.at_us = numbers(rows.field("at_us"))
        self.seconds = numbers(rows.field("seconds"))
        self.error_seconds = numbers(rows.field("error_seconds"))
        self.kind = rows.field("kind")
        self.is_known = bools(pc.is_in(self.kind, value_set=pa.array(KNOWN_KINDS))) & ~np.isnan(self.seconds)


def window_numbers(
    table: pa.Table,
    until_us: int,
    durations: Durations,
    restarts: Restarts | None = None,
) -> Found:
    """The numbers of each row of `table`, by name: one row a queue, with `readings`, `lags`, `hands` (lists), `group`,
    `cluster`, `empty_since_us` and `allowance_seconds`.

    Only readings of the durations' lookback count, so that the evaluation at a time is the same, whatever range a run
    covered before it.
    """
    readings = Readings.of(_list(table, "readings"))
    readings = readings.kept(readings.at_us > until_us - durations.lookback_seconds * MICROSECONDS)
    restarts = restarts or Restarts.of(readings)
    segments = readings.segments
    at, consumer, broker = readings.at_us, readings.consumer_offset, readings.broker_offset
    span_from = until_us - durations.span_seconds * MICROSECONDS

    good = readings.is_good & restarts.is_fresh
    window = good & (at > span_from)
    last, first_good = segments.last(good), segments.first(good)
    first, newest = segments.first(window), segments.last(np.ones(segments.rows, bool))
    recent = at > span_from
    step = steps(
        readings, good, Hands.of(_list(table, "hands")), _group_numbers(table), numbers(table["empty_since_us"])
    )

    consumed = segments.last(step.is_consumption)
    stood = np.where(consumed >= 0, consumed, first_good)
    stood_us = at_rows(at, stood)
    # Rates begin again behind a step that is no consumption.
    restarted = segments.last(step.restarts_rates & window)
    base = np.maximum(first, restarted)
    last_us, base_us = at_rows(at, last), at_rows(at, base)
    span = seconds(last_us - base_us)
    span[~(span > 0)] = np.nan
    last_consumer, last_broker = at_rows(consumer, last), at_rows(broker, last)
    highest = segments.max(consumer, window)
    lag = last_broker - last_consumer

    found: Found = {
        "read_age_seconds": seconds(until_us - at_rows(at, segments.last(~np.isnan(broker)))),
        "known_age_seconds": seconds(until_us - last_us),
        "newest_reason": readings.reason.take(pa.array(newest, mask=newest < 0)),
        "newest_age_seconds": seconds(until_us - at_rows(at, newest)),
        "newest_broker_offset": whole(at_rows(broker, newest)),
        "newest_min_offset": whole(at_rows(readings.min_offset, newest)),
        "readings_seen": whole(segments.count_of(recent).astype(float)),
        "seen_seconds": seconds(segments.max(at, recent) - segments.min(at, recent)),
        "readings_in_window": whole(segments.count_of(window).astype(float)),
        "window_seconds": seconds(last_us - at_rows(at, first)),
        "last_us": whole(last_us),
        "recreated_us": whole(at_rows(at, restarts.fallen)),
        "recreated_offset": whole(at_rows(broker, restarts.fallen)),
        "consumer_offset": whole(last_consumer),
        "broker_offset": whole(last_broker),
        "min_offset": whole(at_rows(readings.min_offset, last)),
        "pull_offset": whole(at_rows(readings.pull_offset, last)),
        "lag_messages": whole(lag),
        "highest_consumer_offset": whole(highest),
        "dropped_us": whole(_dropped_us(readings, window, highest, last_consumer)),
        "moves": whole(segments.count_of(step.is_consumption & window & ~_begins(segments, first)).astype(float)),
        "stood_us": whole(stood_us),
        "has_moved": consumed >= 0,
        "still_seconds": seconds(last_us - stood_us),
        "restarted_us": whole(np.fmax(at_rows(at, restarts.fallen), at_rows(at, segments.last(step.restarts_rates)))),
        "consume_rate": (last_consumer - at_rows(consumer, base)) / span,
        "produce_rate": (last_broker - at_rows(broker, base)) / span,
        **_skipped(readings, window & ~step.is_by_hand, window),
        **_time_lag(TimeLags(_list(table, "lags")), last_us, lag),
    }
    lately = last_us - durations.span_seconds * MICROSECONDS / 3
    is_level = window & (broker <= consumer) & (at > segments.spread(lately))
    # What an offset was before somebody moved it says nothing of the group.
    is_level &= np.arange(segments.rows) >= segments.spread(restarted)
    within = _was_within(table, lately, at_rows(at, restarted))
    found["was_within_allowance"] = segments.any(is_level) | within
    return found


def _list(table: pa.Table, name: str) -> pa.ListArray:
    return table[name].combine_chunks() if isinstance(table[name], pa.ChunkedArray) else table[name]


def _group_numbers(table: pa.Table) -> np.ndarray:
    pairs = pc.binary_join_element_wise(table["cluster"], table["group"], "\0").combine_chunks()
    return np.asarray(pairs.dictionary_encode().indices, np.int64)


def _begins(segments: Segments, first: np.ndarray) -> np.ndarray:
    """The first row of each window: the step that ends there began before it."""
    found = np.zeros(segments.rows, bool)
    found[first[first >= 0]] = True
    return found


def _dropped_us(readings: Readings, window: np.ndarray, highest: np.ndarray, last: np.ndarray) -> np.ndarray:
    """When the consumer offset was first seen below the highest of its window."""
    segments = readings.segments
    top = segments.last(window & (readings.consumer_offset == segments.spread(highest)))
    after = segments.first(window & (np.arange(segments.rows) > segments.spread(top)) & (segments.spread(top) >= 0))
    return np.where(highest > last, at_rows(readings.at_us, after), np.nan)


def _skipped(readings: Readings, chosen: np.ndarray, window: np.ndarray) -> Found:
    """The step, if any, in which an offset below the next reading's min offset was moved up to it or beyond."""
    segments = readings.segments
    before = segments.before(readings.consumer_offset, window)
    least = readings.min_offset
    row = segments.last(chosen & (before < least) & (readings.consumer_offset >= least))
    return {
        "skipped_us": whole(at_rows(readings.at_us, row)),
        "skipped_from": whole(at_rows(before, row)),
        "skipped_min": whole(at_rows(least, row)),
        "skipped_to": whole(at_rows(readings.consumer_offset, row)),
    }


def _time_lag(lags: TimeLags, last_us: np.ndarray, lag: np.ndarray) -> Found:
    """Zero exactly where the lag is zero. `time_lag_at_most_seconds`: since an earlier time lag was known, the first
    unconsumed message can only have become a newer one."""
    segments = lags.segments
    row = segments.last(lags.at_us == segments.spread(last_us))
    level = lag == 0
    kinds = lags.kind.take(pa.array(row, mask=row < 0)).fill_null(UNKNOWN)
    since = seconds(segments.spread(last_us) - lags.at_us)
    bound = np.where(lags.is_known & (since >= 0), lags.seconds + np.nan_to_num(lags.error_seconds) + since, np.nan)
    return {
        "time_lag_seconds": np.where(level, 0.0, at_rows(lags.seconds, row)),
        "time_lag_kind": pc.if_else(pa.array(level), EXACT, kinds),
        "time_lag_error_seconds": np.where(level, 0.0, at_rows(lags.error_seconds, row)),
        "time_lag_at_most_seconds": np.where(level, 0.0, segments.min(bound, ~np.isnan(bound))),
    }


def _was_within(table: pa.Table, lately: np.ndarray, restarted_us: np.ndarray) -> np.ndarray:
    lags = TimeLags(_list(table, "lags"))
    spread = lags.segments.spread
    is_late = (lags.at_us > spread(lately)) & ~(lags.at_us < spread(restarted_us))
    within = lags.is_known & (lags.seconds <= spread(numbers(table["allowance_seconds"])))
    return lags.segments.any(is_late & within)
