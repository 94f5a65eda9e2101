"""Windows of one minute per queue: what was read in each, from the readings of the queue and their time lags."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from consumers.pipeline.durations import Durations
from consumers.vocabulary.reasons import VolumeReason
from consumers.vocabulary.states import UnknownReason

from .columns import QUEUE, Texts, arrow, dense, first_rows, matches, times, whole
from .knots import count_up_to
from .readings import Gathered, Hands, Readings
from .segments import MICROSECONDS, MINUTE_US, Segments, at_rows, seconds
from .time_lag import EXACT, UNKNOWN, TimeLags


@dataclass(frozen=True)
class MinuteWindows:
    """A row for each queue and minute with a reading; `inside` are its readings, from `first` to `last`. `before`: the
    one before them, -1 where a gap lies between. `is_new`: the topic was seen to appear, and the queue was not read
    before. `is_by_hand`: its offset was set meanwhile, which is no consumption. `is_anew`: its topic was created anew
    meanwhile."""

    queue: np.ndarray
    start_us: np.ndarray
    inside: Segments
    first: np.ndarray
    last: np.ndarray
    before: np.ndarray
    is_new: np.ndarray
    is_by_hand: np.ndarray
    is_anew: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """The readings inside, one window after another."""
        return np.repeat(self.first - self.inside.starts[:-1], np.diff(self.inside.starts)) + np.arange(
            self.inside.rows
        )


def minute_windows(
    gathered: Gathered, hands: Hands, appeared: pa.Table, since_us: int, until_us: int, durations: Durations
) -> MinuteWindows:
    """Of every minute from `since` (a whole minute) with a reading before `until`.

    `appeared`: cluster, topic, broker, appeared_us: when topics were seen to appear on their broker.
    """
    segments, at = gathered.readings.segments, gathered.readings.at_us
    chosen = np.flatnonzero((at >= since_us) & (at < until_us))
    queue, minute = segments.queue[chosen], at[chosen] // MINUTE_US
    begins = np.ones(len(chosen), bool)
    begins[1:] = (queue[1:] != queue[:-1]) | (minute[1:] != minute[:-1])
    places = np.flatnonzero(begins)
    inside = Segments(np.append(places, len(chosen)).astype(np.int64))
    first, last, owner = chosen[places], chosen[inside.starts[1:] - 1], queue[places]
    start_us = minute[places] * MINUTE_US

    earlier = np.where(first > segments.starts[:-1][owner], first - 1, -1)
    earlier_at = at_rows(at, earlier)
    before = np.where(earlier_at >= start_us - durations.reach_seconds * MICROSECONDS, earlier, -1)
    # The same span wherever the range of a run begins, so that every run says the same of a window.
    lookback = start_us - durations.lookback_seconds * MICROSECONDS
    was_read = earlier_at >= lookback
    is_new = _has_appeared(gathered, appeared, owner, lookback, at_rows(at, first)) & ~was_read
    begin = at_rows(at, np.where(before >= 0, before, first))
    is_by_hand = hands.meet(owner, begin, at_rows(at, last))
    # Up to each row, itself included; a life that begins with the first reading of all has nothing before it.
    begun = np.cumsum(gathered.readings.begins)
    is_anew = begun[last] > begun[np.where(before >= 0, before, first)]
    return MinuteWindows(owner, start_us, inside, first, last, before, is_new, is_by_hand, is_anew)


def _has_appeared(
    gathered: Gathered, appeared: pa.Table, queue: np.ndarray, since: np.ndarray, until: np.ndarray
) -> np.ndarray:
    """Whether the queue's topic was seen to appear in [since, until]."""
    found = np.zeros(len(queue), bool)
    if not appeared.num_rows:
        return found
    place = matches(gathered.queues, appeared, ["cluster", "topic", "broker"])[queue]
    # Few topics ever appear in a range.
    for number, moments in enumerate(appeared["appeared_us"].to_pylist()):
        rows = np.flatnonzero(place == number)
        for moment in moments:
            found[rows] |= (moment >= since[rows]) & (moment <= until[rows])
    return found


# How far a queue's offsets moved in a window: from the last reading before it to its own last one.
# So the sums of windows that follow one another are the difference of the ends. What would have to be guessed is
# null, with the reason.

# With these the lag is not known, but what the broker says of the consumer offset is.
CONSUMER_IS_KNOWN = (
    UnknownReason.TOPIC_GONE,
    UnknownReason.QUEUE_GONE,
    UnknownReason.NO_BROKER_OFFSET,
    UnknownReason.CONSUMER_AHEAD,
)


def volumes(gathered: Gathered, windows: MinuteWindows) -> tuple[np.ndarray, np.ndarray, Texts]:
    """Messages consumed and produced, NaN where that is not known, and why one of the two is not."""
    consumed, consumed_unknown = _consumed(gathered, windows)
    produced, produced_unknown = _produced(gathered, windows)
    return (
        np.where(consumed_unknown.is_known, np.nan, consumed),
        np.where(produced_unknown.is_known, np.nan, produced),
        _both(consumed_unknown, produced_unknown),
    )


def _produced(gathered: Gathered, windows: MinuteWindows) -> tuple[np.ndarray, Texts]:
    """A topic begins at 0: one that appears, and one that was gone before. What the topic before it produced after its
    last reading is not known."""
    readings, before, last = gathered.readings, windows.before, windows.last
    reason, broker = readings.reason, readings.broker_offset
    was_gone = reason.at(before).is_in([UnknownReason.TOPIC_GONE])
    begin = np.where(was_gone | ((before < 0) & windows.is_new), 0.0, at_rows(broker, before))
    end = np.where(was_gone & reason.at(last).is_in([UnknownReason.TOPIC_GONE]), begin, at_rows(broker, last))
    unknown = Texts.chosen(
        [
            (np.isnan(begin) & (before < 0), VolumeReason.NO_READING_BEFORE),
            (np.isnan(begin), reason.at(before).otherwise(VolumeReason.OFFSET_UNREAD)),
            (np.isnan(end), reason.at(last).otherwise(VolumeReason.OFFSET_UNREAD)),
            (_falls(windows, broker, begin), VolumeReason.BROKER_WENT_BACK),
            (windows.is_anew & ~was_gone | _is_anew_inside(windows, readings), VolumeReason.TOPIC_RECREATED),
        ],
        len(last),
    )
    return end - begin, unknown


def _is_anew_inside(windows: MinuteWindows, readings: Readings) -> np.ndarray:
    """Whether the topic was created anew after a reading inside that saw it."""
    seen = readings.is_seen[windows.rows]
    window = windows.inside.queue
    first_seen = windows.inside.first(seen)
    anew = readings.begins[windows.rows] & (np.arange(len(window)) > first_seen[window])
    return np.bincount(window[anew], minlength=windows.inside.count) > 0


def _consumed(gathered: Gathered, windows: MinuteWindows) -> tuple[np.ndarray, Texts]:
    """A retry queue is read from its start (RocketMQ 5.4.0, RebalancePushImpl.computePullFromWhereWithException)."""
    readings, before, last = gathered.readings, windows.before, windows.last
    reason, is_first = readings.reason, before < 0
    usable = np.where(reason.is_in(CONSUMER_IS_KNOWN) | ~reason.is_known, readings.consumer_offset, np.nan)
    was_never = reason.at(before).is_in([UnknownReason.NEVER_COMMITTED])
    starts_at_zero = np.nan_to_num(at_rows(readings.min_offset, last)) == 0
    from_zero = gathered.kind.is_in(["retry"])[windows.queue] & (was_never | (is_first & windows.is_new))
    begin = at_rows(usable, before)
    begin = np.where(np.isnan(begin) & from_zero & starts_at_zero, 0.0, begin)
    is_never = reason.is_in([UnknownReason.NEVER_COMMITTED])[windows.rows]
    others = np.bincount(windows.inside.queue[~is_never], minlength=len(last))
    still_never = (others == 0) & (is_first | was_never)
    end = at_rows(usable, last)
    unknown = Texts.chosen(
        [
            (still_never, Texts.none(len(last))),
            (np.isnan(begin) & is_first, VolumeReason.NO_READING_BEFORE),
            (np.isnan(begin) & was_never, VolumeReason.FIRST_COMMIT),
            (np.isnan(begin), reason.at(before).otherwise(VolumeReason.OFFSET_UNREAD)),
            (np.isnan(end), reason.at(last).otherwise(VolumeReason.OFFSET_UNREAD)),
            (windows.is_by_hand, VolumeReason.SET_BY_RESET),
            (_falls(windows, usable, begin), VolumeReason.CONSUMER_WENT_BACK),
            # An offset that stands is that of the topic before: nothing is committed of the other one.
            (windows.is_anew & (end != begin), VolumeReason.TOPIC_RECREATED),
        ],
        len(last),
    )
    return np.where(still_never, 0.0, end - begin), unknown


def _falls(windows: MinuteWindows, values: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """Whether a value inside is below the one before it, the first below `begin`. What was not read in between tells
    nothing."""
    inside = values[windows.rows]
    known = ~np.isnan(inside)
    window, inside = windows.inside.queue[known], inside[known]
    before = np.empty(len(inside))
    before[1:] = inside[:-1]
    is_first = np.ones(len(inside), bool)
    is_first[1:] = window[1:] != window[:-1]
    before[is_first] = begin[window[is_first]]
    return np.bincount(window[inside < before], minlength=len(begin)) > 0


def _both(one: Texts, other: Texts) -> Texts:
    """Two reasons as one text; where they are the same it is said once."""
    place = dense(one.codes * (len(other.values) + 1) + other.codes)
    first = first_rows(place)
    pairs = zip(one.codes[first].tolist(), other.codes[first].tolist(), strict=True)
    texts = ["; ".join(_distinct(one, other, *pair)) for pair in pairs]
    codes = np.array([number if text else -1 for number, text in enumerate(texts)], np.int64)
    return Texts(codes[place], tuple(texts)) if texts else Texts.none(0)


def _distinct(one: Texts, other: Texts, mine: int, theirs: int) -> Iterator[str]:
    if mine >= 0:
        yield one.values[mine]
    if theirs >= 0 and (mine < 0 or one.values[mine] != other.values[theirs]):
        yield other.values[theirs]


def queue_windows(gathered: Gathered, lags: TimeLags, windows: MinuteWindows) -> pa.Table:
    """The columns of the lake's windows. Offsets and lag are those of the minute's last reading; rates and volumes
    count from the reading before the minute."""
    readings, last = gathered.readings, windows.last
    is_known = readings.is_good[last]
    lag = np.where(is_known, at_rows(readings.broker_offset, last) - at_rows(readings.consumer_offset, last), np.nan)
    is_level = lag == 0
    time_lag, kind = _time_lags(gathered, lags, last)
    consumed, produced, reason = volumes(gathered, windows)
    kinds = Texts.chosen([(is_level, EXACT), (is_known, kind)], len(last)).otherwise(UNKNOWN)
    found = gathered.queues.take(pa.array(windows.queue))
    columns = {
        "cluster": found["cluster"],
        "start": times(windows.start_us),
        "step_seconds": pa.array(np.full(len(last), 60, np.int32)),
        **{name: found[name] for name in (*QUEUE[1:], "kind")},
        "lag_messages": whole(lag),
        "time_lag_seconds": arrow(np.where(is_level, 0.0, np.where(is_known, time_lag, np.nan))),
        "time_lag_kind": kinds.arrow(),
        "consume_rate": arrow(np.where(windows.is_by_hand, np.nan, _rate(gathered, windows, "consumer_offset"))),
        "produce_rate": arrow(_rate(gathered, windows, "broker_offset")),
        "readings": pa.array(np.diff(windows.inside.starts).astype(np.int32)),
        "unknown_reason": readings.reason.at(last).arrow(),
        "consumed": whole(consumed),
        "produced": whole(produced),
        "volume_unknown": reason.arrow(),
    }
    return pa.table(columns)


def _time_lags(gathered: Gathered, lags: TimeLags, last: np.ndarray) -> tuple[np.ndarray, Texts]:
    """Of the windows' last readings, where they have one."""
    queue, at = gathered.readings.segments.queue[last], gathered.readings.at_us[last]
    starts = lags.segments.starts
    newest = starts[queue] + count_up_to(lags.at_us, starts[queue], starts[queue + 1], at) - 1
    place = np.where((newest >= starts[queue]) & (at_rows(lags.at_us, newest) == at), newest, -1)
    return at_rows(lags.seconds, place), lags.kind.at(place)


def _rate(gathered: Gathered, windows: MinuteWindows, name: str) -> np.ndarray:
    """Messages a second; NaN where the offset fell, was not read, or is of another topic with the name."""
    readings = gathered.readings
    values, at = getattr(readings, name), readings.at_us
    first = np.where(windows.before >= 0, windows.before, windows.first)
    span = seconds(at[windows.last] - at[first])
    span[span == 0] = np.nan
    rows, window = windows.rows, windows.inside.queue
    earlier = np.where(windows.inside.is_first, first[window], rows - 1)
    is_broken = ~(values[rows] >= values[earlier])
    broken = np.bincount(window[is_broken], minlength=len(first)) > 0
    return np.where(broken | windows.is_anew, np.nan, (values[windows.last] - values[first]) / span)
