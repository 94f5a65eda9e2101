"""The numbers of a queue's window that the rules look at.

"Window" is what lies within the span before `until`; how long an offset stood still is looked up a little further back.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from consumers.pipeline.durations import Durations

from .columns import GROUP, Texts, key_numbers, numbers, whole
from .readings import Hands, Lives, Readings, Steps, steps
from .segments import MICROSECONDS, Segments, at_rows, seconds
from .time_lag import EXACT, UNKNOWN, TimeLags

OFFSETS = ("consumer_offset", "broker_offset", "min_offset", "pull_offset")
QueueNumbers = dict[str, "np.ndarray | pa.Array"]


@dataclass(frozen=True)
class Seen:
    """Of each queue its readings, the time lags of those that are behind, and the spans in which somebody set its
    offset."""

    readings: Readings
    lags: TimeLags
    hands: Hands

    @classmethod
    def of(cls, table: pa.Table) -> "Seen":
        """From the list columns `readings`, `lags` and `hands`."""
        lists = (table[name].combine_chunks() for name in ("readings", "lags", "hands"))
        return cls(Readings.of(next(lists)), TimeLags.of(next(lists)), Hands.of(next(lists)))


def window_numbers(
    table: pa.Table,
    seen: Seen,
    until_us: int,
    durations: Durations,
    lives: Lives | None = None,
) -> QueueNumbers:
    """The numbers of each row of `table`, by name: one row a queue, with `group`, `cluster`, `empty_since_us` and
    `allowance_seconds`.

    Only readings of the durations' lookback count, so that the evaluation at a time is the same, whatever range a run
    covered before it.
    """
    readings = seen.readings.kept(seen.readings.at_us > until_us - durations.lookback_seconds * MICROSECONDS)
    lives = lives or Lives.of(readings)
    segments, at, consumer = readings.segments, readings.at_us, readings.consumer_offset
    recent = at > until_us - durations.span_seconds * MICROSECONDS
    good = readings.is_good & lives.is_newest
    window = good & recent
    # Of the topic that there is now, whether the lag is known or not.
    of_topic = recent & lives.is_newest & ~np.isnan(readings.broker_offset)
    step = steps(readings, good, seen.hands, key_numbers(table, GROUP), numbers(table["empty_since_us"]))
    last, first = segments.last(good), segments.first(window)
    last_us = at_rows(at, last)
    lag = at_rows(readings.broker_offset, last) - at_rows(consumer, last)
    # Rates begin again behind a step that is no consumption.
    restarted = segments.last(step.restarts_rates & window)
    began_us = at_rows(at, lives.began)
    lags = seen.lags.of_lives_since(began_us)

    found: QueueNumbers = {
        **_newest(readings, recent, until_us),
        "known_age_seconds": seconds(until_us - last_us),
        "readings_of_topic": whole(segments.count_of(of_topic).astype(float)),
        "topic_seconds": seconds(segments.max(at, of_topic) - segments.min(at, of_topic)),
        "last_us": whole(last_us),
        "recreated_us": whole(began_us),
        "recreated_offset": whole(at_rows(readings.broker_offset, lives.began)),
        "restarted_us": whole(np.fmax(began_us, at_rows(at, segments.last(step.restarts_rates)))),
        **{name: whole(at_rows(getattr(readings, name), last)) for name in OFFSETS},
        "lag_messages": whole(lag),
        **_highest(readings, window, at_rows(consumer, last)),
        "moves": whole(segments.count_of(step.is_consumption & window & ~_begins(segments, first)).astype(float)),
        **_stood(readings, good, step, last_us),
        **_rates(readings, np.maximum(first, restarted), last),
        **_skipped(readings, window & ~step.is_by_hand, window),
        **_time_lag(lags, last_us, lag),
    }
    lately = last_us - durations.span_seconds * MICROSECONDS / 3
    is_level = window & (readings.broker_offset <= consumer) & (at > segments.spread(lately))
    # What an offset was before somebody moved it says nothing of the group.
    is_level &= np.arange(segments.rows) >= segments.spread(restarted)
    within = _was_within(lags, lately, at_rows(at, restarted), numbers(table["allowance_seconds"]))
    found["was_within_allowance"] = segments.any(is_level) | within
    return found


def _newest(readings: Readings, recent: np.ndarray, until_us: int) -> QueueNumbers:
    """Of the newest reading, whether its lag is known or not, and how many there are of the span."""
    segments, at = readings.segments, readings.at_us
    newest = segments.last(np.ones(segments.rows, bool))
    seen = segments.last(~np.isnan(readings.broker_offset))
    return {
        "read_age_seconds": seconds(until_us - at_rows(at, seen)),
        "newest_reason": readings.reason.at(newest).arrow(),
        "newest_age_seconds": seconds(until_us - at_rows(at, newest)),
        "newest_broker_offset": whole(at_rows(readings.broker_offset, newest)),
        "newest_min_offset": whole(at_rows(readings.min_offset, newest)),
        "readings_seen": whole(segments.count_of(recent).astype(float)),
        "seen_seconds": seconds(segments.max(at, recent) - segments.min(at, recent)),
    }


def _stood(readings: Readings, good: np.ndarray, step: Steps, last_us: np.ndarray) -> QueueNumbers:
    """Since when the offset stands: its last consumption, else the first good reading."""
    consumed = readings.segments.last(step.is_consumption)
    stood_us = at_rows(readings.at_us, np.where(consumed >= 0, consumed, readings.segments.first(good)))
    return {
        "stood_us": whole(stood_us),
        "has_moved": consumed >= 0,
        "still_seconds": seconds(last_us - stood_us),
    }


def _rates(readings: Readings, base: np.ndarray, last: np.ndarray) -> QueueNumbers:
    """Messages a second between two rows of each queue; NaN where they are the same one."""
    span = seconds(at_rows(readings.at_us, last) - at_rows(readings.at_us, base))
    span[~(span > 0)] = np.nan

    def rate(offsets: np.ndarray) -> np.ndarray:
        return (at_rows(offsets, last) - at_rows(offsets, base)) / span

    return {"consume_rate": rate(readings.consumer_offset), "produce_rate": rate(readings.broker_offset)}


def _begins(segments: Segments, first: np.ndarray) -> np.ndarray:
    """The first row of each window: the step that ends there began before it."""
    found = np.zeros(segments.rows, bool)
    found[first[first >= 0]] = True
    return found


def _highest(readings: Readings, window: np.ndarray, last: np.ndarray) -> QueueNumbers:
    """The highest consumer offset of the window, and when one below it was first seen after that. `last`: the newest
    offset of each queue."""
    segments = readings.segments
    highest = segments.max(readings.consumer_offset, window)
    top = segments.last(window & (readings.consumer_offset == segments.spread(highest)))
    after = segments.first(window & (np.arange(segments.rows) > segments.spread(top)) & (segments.spread(top) >= 0))
    dropped_us = np.where(highest > last, at_rows(readings.at_us, after), np.nan)
    return {"highest_consumer_offset": whole(highest), "dropped_us": whole(dropped_us)}


def _skipped(readings: Readings, chosen: np.ndarray, window: np.ndarray) -> QueueNumbers:
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


def _time_lag(lags: TimeLags, last_us: np.ndarray, lag: np.ndarray) -> QueueNumbers:
    """Zero exactly where the lag is zero. `time_lag_at_most_seconds`: since an earlier time lag was known, the first
    unconsumed message can only have become a newer one."""
    segments = lags.segments
    row = segments.last(lags.at_us == segments.spread(last_us))
    level = lag == 0
    kinds = lags.kind.at(row).otherwise(UNKNOWN)
    since = seconds(segments.spread(last_us) - lags.at_us)
    bound = np.where(lags.is_known & (since >= 0), lags.seconds + np.nan_to_num(lags.error_seconds) + since, np.nan)
    return {
        "time_lag_seconds": np.where(level, 0.0, at_rows(lags.seconds, row)),
        "time_lag_kind": Texts.chosen([(level, EXACT), (~level, kinds)], len(level)).arrow(),
        "time_lag_error_seconds": np.where(level, 0.0, at_rows(lags.error_seconds, row)),
        "time_lag_at_most_seconds": np.where(level, 0.0, segments.min(bound, ~np.isnan(bound))),
    }


def _was_within(
    lags: TimeLags, lately: np.ndarray, restarted_us: np.ndarray, allowance_seconds: np.ndarray
) -> np.ndarray:
    spread = lags.segments.spread
    is_late = (lags.at_us > spread(lately)) & ~(lags.at_us < spread(restarted_us))
    return lags.segments.any(is_late & lags.is_known & (lags.seconds <= spread(allowance_seconds)))
