"""The minutes of each queue in which it was read: which readings lie in each, and what came before them."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.arrays.gathered import Gathered
from consumers.pipeline.kernel.arrays.keys import matches
from consumers.pipeline.kernel.arrays.segments import MICROSECONDS, MINUTE_US, Segments, at_rows

from .readings import Hands


@dataclass(frozen=True)
class MinuteWindows:
    """A row for each queue and minute with a reading; `inside` are its readings, from `first` to `last`. `before`: the
    one before them, -1 where a gap lies between. `is_new`: the topic was seen to appear, and the queue was not read
    before. `is_by_hand`: its offset was set meanwhile, which is no consumption."""

    queue: np.ndarray
    start_us: np.ndarray
    inside: Segments
    first: np.ndarray
    last: np.ndarray
    before: np.ndarray
    is_new: np.ndarray
    is_by_hand: np.ndarray

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
    return MinuteWindows(owner, start_us, inside, first, last, before, is_new, is_by_hand)


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
