"""Whether the time lag of a queue rises or drains, from its windows of one minute.

A condition is looked at as it stood at the end of each of the last minutes, oldest first: a state that rests on it
begins with the condition, and is left only once that has failed for a third of the trend. So nothing has to be
remembered, and the same range gives the same states.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.pipeline.durations import Durations

from .columns import Columns, bools, numbers
from .segments import MINUTE_US, Segments
from .time_lag import KNOWN_KINDS

MINUTE_SECONDS = 60
LEAST_MINUTES = 3
AT_ONCE = 20_000
# Two rates that differ by less than can be measured would give millions of years. Messages expire long before.
LONGEST_DRAIN_SECONDS = 30 * 86_400.0


def trend_minutes(durations: Durations) -> tuple[int, int]:
    """How many minutes the trend has, and how many of them a condition must fail for."""
    whole = max(LEAST_MINUTES, round(durations.trend_span_seconds / MINUTE_SECONDS))
    return whole, max(1, whole // 3)


def minutes_needed(durations: Durations) -> int:
    """The trend, as it stood at the end of each of its own minutes."""
    return 2 * trend_minutes(durations)[0]


@dataclass(frozen=True)
class Minutes:
    """A row a queue, a column a minute, oldest first; NaN where the minute does not tell."""

    time_lag: np.ndarray  # seconds, at least so much
    known_time_lag: np.ndarray
    lag: np.ndarray
    consume_rate: np.ndarray
    produce_rate: np.ndarray

    @classmethod
    def of(cls, lists: pa.ListArray, until_us: int, restarted_us: np.ndarray, durations: Durations) -> "Minutes":
        """`lists`: of each queue its windows {start_us, time_lag_seconds, time_lag_kind, lag_messages, consume_rate,
        produce_rate}. Windows that began before `restarted_us` tell of another course."""
        count = minutes_needed(durations)
        rows = lists.flatten()
        segments = Segments.of_lists(lists)
        start = numbers(rows.field("start_us"))
        column = (start - (until_us // MINUTE_US - count) * MINUTE_US) // MINUTE_US
        fits = (column >= 0) & (column < count) & ~(start < segments.spread(restarted_us))
        at = segments.queue[fits], column[fits].astype(np.int64)

        def spread(values: np.ndarray) -> np.ndarray:
            found = np.full((segments.count, count), np.nan)
            found[at] = values[fits]
            return found

        time_lag = numbers(rows.field("time_lag_seconds"))
        is_known = bools(pc.is_in(rows.field("time_lag_kind"), value_set=pa.array(KNOWN_KINDS)))
        found = cls(
            spread(time_lag),
            spread(np.where(is_known, time_lag, np.nan)),
            spread(numbers(rows.field("lag_messages"))),
            spread(numbers(rows.field("consume_rate"))),
            spread(numbers(rows.field("produce_rate"))),
        )
        return found._since(_set_back(found.known_time_lag))

    def _since(self, first: np.ndarray) -> "Minutes":
        """Without the minutes of each queue before the column `first`."""
        gone = np.arange(self.time_lag.shape[1]) < first[:, None]
        return Minutes(*(np.where(gone, np.nan, getattr(self, name)) for name in self.__dataclass_fields__))

    def ends(self, durations: Durations) -> Iterator["Minutes"]:
        """The trend as it stood at the end of each of the last minutes, the oldest first."""
        whole, _ = trend_minutes(durations)
        for end in range(whole, self.time_lag.shape[1] + 1):
            yield self._cut(slice(end - whole, end))

    def newest(self, durations: Durations) -> "Minutes":
        return self._cut(slice(self.time_lag.shape[1] - trend_minutes(durations)[0], None))

    def _cut(self, columns: slice) -> "Minutes":
        return Minutes(*(getattr(self, name)[:, columns] for name in self.__dataclass_fields__))


def with_trend(columns: Columns, until_us: int, durations: Durations) -> Columns:
    """Adds is_falling_behind, is_not_draining, drains_in_time, drain_seconds, expires_in_seconds,
    expires_unconsumed_seconds, trend_slope, trend_from_seconds and trend_to_seconds; consume_rate and produce_rate
    become those that the drain time is from.

    `columns` has the numbers of the window, the windows of the trend (`minutes`), `reserved_seconds` and
    `behind_seconds`.
    """
    lists = columns.table["minutes"].combine_chunks()
    chosen = np.flatnonzero(np.asarray(lists.value_lengths().fill_null(0)) > 0)
    restarted = np.fmax(columns["restarted_us"], _last_set(columns))[chosen]
    minutes = Minutes.of(lists.take(pa.array(chosen)), until_us, restarted, durations)
    size = columns.count
    falling, not_draining = np.zeros(size, bool), np.zeros(size, bool)
    slope, begin, end = (np.full(size, np.nan) for _ in range(3))
    rates = {name: columns[name].copy() for name in ("consume_rate", "produce_rate")}
    lowest = np.full(size, np.nan)
    bound = columns["time_lag_at_most_seconds"].copy()
    if len(chosen):
        bound[chosen] = np.fmin(bound[chosen], _bound(minutes))
        newest = minutes.newest(durations)
        slope[chosen] = slopes(newest.known_time_lag, durations)
        begin[chosen], end[chosen] = _first(newest.known_time_lag), _last(newest.known_time_lag)
        lowest[chosen] = _lowest(newest.known_time_lag)
        for name in rates:
            over_trend = _mean_rate(newest, name)
            rates[name][chosen] = np.where(np.isnan(over_trend), rates[name][chosen], over_trend)
        rises, held_lag = Held.of(len(chosen), durations), Held.of(len(chosen), durations)
        for past in minutes.ends(durations):
            rises.take(*_falls_behind(past, columns, chosen, durations))
            held_lag.take(*_does_not_drain(past, columns, chosen, durations))
        falling[chosen], not_draining[chosen] = rises.holds, held_lag.holds
    drain = drain_seconds(columns["lag_messages"], rates["consume_rate"], rates["produce_rate"])
    expires = expires_in(columns["reserved_seconds"], columns["time_lag_seconds"])
    in_time = drains_within(drain, durations.behind_drain_seconds, expires)
    limit = columns["behind_seconds"]
    not_draining |= (columns["time_lag_seconds"] > limit) & ~(lowest <= limit) & ~in_time
    return columns.with_columns(
        {
            "is_falling_behind": falling,
            "is_not_draining": not_draining,
            "drains_in_time": in_time,
            "drain_seconds": drain,
            "trend_slope": slope,
            "trend_from_seconds": begin,
            "trend_to_seconds": end,
            "trend_consume_rate": rates["consume_rate"],
            "trend_produce_rate": rates["produce_rate"],
            "time_lag_at_most_seconds": bound,
            "expires_in_seconds": np.where(columns["lag_messages"] > 0, expires, np.nan),
            "expires_unconsumed_seconds": expires_unconsumed(columns, expires, slope),
        }
    )


@dataclass
class Held:
    """Whether each queue is in a state, from minute to minute."""

    holds: np.ndarray
    failed: np.ndarray  # minutes in a row
    patience: int

    @classmethod
    def of(cls, count: int, durations: Durations) -> "Held":
        return cls(np.zeros(count, bool), np.zeros(count, int), trend_minutes(durations)[1])

    def take(self, begins: np.ndarray, lasts: np.ndarray) -> None:
        """`lasts` keeps a state that began; it may be weaker than what `begins` one, so that noise ends nothing."""
        self.failed = np.where(begins | lasts, 0, self.failed + 1)
        self.holds = begins | (self.holds & (self.failed <= self.patience))


def _falls_behind(
    past: Minutes, columns: Columns, chosen: np.ndarray, durations: Durations
) -> tuple[np.ndarray, np.ndarray]:
    """The time lag rises by so many seconds a second, and is above its threshold, or its messages expire; and whether
    it still rises by half as much."""
    end = _last(past.known_time_lag)
    expires = expires_in(columns["reserved_seconds"][chosen], end)
    is_far = (end > durations.warn_time_lag_seconds) | ((end > 0) & (expires < durations.warn_expiry_seconds))
    is_far &= _moved(past, columns, chosen, durations)
    is_far &= ~drains_within(_drain(past), durations.warn_drain_seconds, expires)
    rise = np.full(len(chosen), np.nan)
    rise[is_far] = slopes(past.known_time_lag[is_far], durations)
    return rise >= durations.warn_slope, rise >= durations.warn_slope / 2


def _does_not_drain(
    past: Minutes, columns: Columns, chosen: np.ndarray, durations: Durations
) -> tuple[np.ndarray, np.ndarray]:
    """Behind by more than the limit at every minute that tells, and not gone in time; and whether it still is, at the
    last of them."""
    limit = columns["behind_seconds"][chosen]
    end = _last(past.time_lag)
    expires = expires_in(columns["reserved_seconds"][chosen], end)
    # Where the trend has no rates yet, those of the window decide.
    is_steady = (end > limit) & ~np.isnan(_mean_rate(past, "consume_rate")) & _moved(past, columns, chosen, durations)
    is_steady &= ~drains_within(_drain(past), durations.behind_drain_seconds, expires)
    return is_steady & ~(_lowest(past.known_time_lag) <= limit), is_steady


def _moved(past: Minutes, columns: Columns, chosen: np.ndarray, durations: Durations) -> np.ndarray:
    """It was not stuck then: of a queue that was, other rules told."""
    usual = np.fmax(durations.stall_seconds, 3 * columns["usual_gap_seconds"][chosen])
    minutes = np.maximum(LEAST_MINUTES, np.ceil(usual / MINUTE_SECONDS))
    size = past.consume_rate.shape[1]
    lately = np.arange(size) >= (size - minutes)[:, None]
    return (lately & ~(past.consume_rate <= 0)).any(axis=1)


def drain_seconds(lag: np.ndarray, consume_rate: np.ndarray, produce_rate: np.ndarray) -> np.ndarray:
    """NaN where it does not drain, or not within LONGEST_DRAIN_SECONDS, and where a rate is not known."""
    surplus = consume_rate - produce_rate
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((surplus > 0) & (lag <= surplus * LONGEST_DRAIN_SECONDS), lag / surplus, np.nan)


def drains_within(drain: np.ndarray, seconds: float, expires: np.ndarray) -> np.ndarray:
    """It is gone in so many seconds, and before its messages expire where that is known."""
    return (drain <= seconds) & ~(drain > expires)


def expires_in(reserved: np.ndarray, time_lag: np.ndarray) -> np.ndarray:
    """No sooner may the broker delete the first unconsumed message, unless its disk fills up. 0: it may already.

    NaN where its age, or how long the broker keeps messages, is not known. RocketMQ 5.4.0 deletes whole files that were
    last written so long ago, at the hours of `deleteWhen` (DefaultMessageStore).
    """
    return np.maximum(reserved - time_lag, 0.0)


def expires_unconsumed(
    columns: Columns | Mapping[str, np.ndarray], expires: np.ndarray, slope: np.ndarray
) -> np.ndarray:
    """When the time lag reaches the retention, at the pace at which it rises: from then on messages may be deleted
    before the queue consumes them. Infinite where it does not rise, or not by enough within LONGEST_DRAIN_SECONDS, and
    where the lag is within its threshold; NaN where its pace or the retention is not known."""
    # Messages that wait grow older by a second a second, whatever the trend was before consumption stopped.
    stands = (columns["lag_messages"] > 0) & (columns["consume_rate"] == 0)
    pace = np.where(stands, 1.0, np.minimum(slope, 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(pace > 0, expires / pace, np.where(np.isnan(pace), np.nan, np.inf))
    found[found > LONGEST_DRAIN_SECONDS] = np.inf
    is_level = (columns["lag_messages"] == 0) | (columns["time_lag_seconds"] <= columns["allowance_seconds"])
    # What may be deleted already needs no pace.
    return np.where(is_level, np.inf, np.where(expires == 0, 0.0, found))


def slopes(values: np.ndarray, durations: Durations) -> np.ndarray:
    """Seconds of time lag a second by Theil and Sen: the median of the slopes of all pairs of minutes, which neither a
    spike nor a dip moves. NaN where the known minutes are fewer than three or do not span the trend.
    """
    found = np.full(len(values), np.nan)
    known = ~np.isnan(values)
    minutes = np.arange(values.shape[1])
    first = np.where(known, minutes, values.shape[1]).min(axis=1, initial=values.shape[1])
    last = np.where(known, minutes, -1).max(axis=1, initial=-1)
    covers = (last - first + 1) * MINUTE_SECONDS
    trend = durations.trend_span_seconds
    # A poll may come late at either end.
    needed = max(trend - 2 * max(MINUTE_SECONDS, durations.poll_seconds), trend / 2)
    usable = np.flatnonzero((known.sum(axis=1) >= LEAST_MINUTES) & (covers >= needed))
    left, right = np.triu_indices(values.shape[1], k=1)
    for start in range(0, len(usable), AT_ONCE):
        rows = usable[start : start + AT_ONCE]
        pairs = (values[rows][:, right] - values[rows][:, left]) / ((right - left) * MINUTE_SECONDS)
        # As np.nanmedian, in a ninth of its time: what is not known is sorted behind the rest.
        pairs.sort(axis=1)
        count, row = pairs.shape[1] - np.isnan(pairs).sum(axis=1), np.arange(len(rows))
        found[rows] = (pairs[row, (count - 1) // 2] + pairs[row, count // 2]) / 2
    return found


def _set_back(known: np.ndarray) -> np.ndarray:
    """The last minute that shows more of a rise than time has passed: somebody set the offset back before it. 0: none.

    A time lag grows by a second a second at most, as long as offsets do not fall.
    """
    columns = np.arange(known.shape[1])
    seen = np.maximum.accumulate(np.where(np.isnan(known), -1, columns), axis=1)
    before = np.concatenate([np.full((len(known), 1), -1), seen[:, :-1]], axis=1)
    passed = (columns - before + 1) * MINUTE_SECONDS
    rise = known - np.take_along_axis(known, np.maximum(before, 0), axis=1)
    jumps = (before >= 0) & (rise > passed)
    return np.where(jumps, columns, 0).max(axis=1, initial=0)


def _last_set(columns: Columns) -> np.ndarray:
    """When a reset last had an end for each queue; NaN without one."""
    lists = columns.table["hands"].combine_chunks()
    ends = numbers(lists.flatten().field("to_us"))
    return Segments.of_lists(lists).max(ends, np.ones(len(ends), bool))


def _bound(minutes: Minutes) -> np.ndarray:
    """What a time lag can have become at most since a minute knew it."""
    size = minutes.known_time_lag.shape[1]
    # From the start of that minute to the end of the one that is not over.
    since = (size + 1 - np.arange(size)) * MINUTE_SECONDS
    return _lowest(minutes.known_time_lag + since)


def _drain(past: Minutes) -> np.ndarray:
    return drain_seconds(_last(past.lag), _mean_rate(past, "consume_rate"), _mean_rate(past, "produce_rate"))


def _mean_rate(past: Minutes, name: str) -> np.ndarray:
    """Over the minutes that have both rates; NaN where they are fewer than three."""
    both = ~np.isnan(past.consume_rate) & ~np.isnan(past.produce_rate)
    count = both.sum(axis=1)
    total = np.where(both, getattr(past, name), 0.0).sum(axis=1)
    return np.where(count >= LEAST_MINUTES, total / np.maximum(count, 1), np.nan)


def _last(values: np.ndarray) -> np.ndarray:
    return _first(values[:, ::-1])


def _first(values: np.ndarray) -> np.ndarray:
    known = ~np.isnan(values)
    return np.where(known.any(axis=1), values[np.arange(len(values)), known.argmax(axis=1)], np.nan)


def _lowest(values: np.ndarray) -> np.ndarray:
    lowest = np.where(np.isnan(values), np.inf, values).min(axis=1, initial=np.inf)
    return np.where(np.isinf(lowest), np.nan, lowest)
