"""Since when messages wait at each consumer offset, by comparing a reading with the one before it.

Two things are kept: the first reading with the same offset and a lag, and when the first unconsumed message was stored.
When the offset of a queue moves, the wait starts anew: a lagging group that consumes never waits for long.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

import numpy as np
from django.conf import settings

from consumers.models import Reading
from consumers.polling.brokers.dispatch_backlog import DispatchBacklog, limit_bytes
from consumers.vocabulary.times import microseconds

from .snapshots import FIRST_STORED, NULL, NUMBERS, OFFSETS, Columns

CONSUMER, END = OFFSETS.index("consumer_offset"), OFFSETS.index("broker_offset")
STORED, ERROR = (NUMBERS.index(name) for name in FIRST_STORED)
SECOND_US = 1_000_000


def by_waiting(
    before: Columns, after: Columns, chosen: np.ndarray, now: datetime
) -> Iterator[tuple[np.ndarray, dict[str, datetime | None]]]:
    """The `chosen` rows of `after` in parts, each with the values to store; no field if the stored value stays."""
    waits = has_lag(after)
    stays = waits & _waited(before, after)
    parts: list[tuple[np.ndarray, dict[str, datetime | None]]] = [
        (stays, {}),
        (waits & ~stays, {"waiting_since": now}),
        (~waits, {"waiting_since": None}),
    ]
    for part, stored in parts:
        if (part & chosen).any():
            yield part & chosen, stored


def has_lag(columns: Columns) -> np.ndarray:
    """For each row, whether it is known to have a lag."""
    return is_known(columns) & (columns.offsets[:, END] > columns.offsets[:, CONSUMER])


def is_known(columns: Columns) -> np.ndarray:
    """For each row, whether both offsets are known, and the consumer is not ahead of the broker."""
    consumer, end = columns.offsets[:, CONSUMER], columns.offsets[:, END]
    return columns.reasons.is_in([None]) & (consumer != NULL) & (end >= consumer)


def _waited(before: Columns, after: Columns) -> np.ndarray:
    """For each row of `after`, whether it had a lag at the same consumer offset before."""
    if not len(before.keys):
        return np.zeros(len(after.keys), bool)
    at, same = before.find(after.keys)
    return same & has_lag(before)[at] & (before.offsets[at, CONSUMER] == after.offsets[:, CONSUMER])


# When the first unconsumed message was stored, where the newest two readings tell. An evaluation looks further back,
# but knows nothing of a lag that began after it.


def ends_read(last: Reading | None) -> dict[str, datetime]:
    """The brokers whose broker offsets the `last` reading had as they were, and its time: not from a slave, which may
    lack messages, nor from a broker that hid some because it was behind with its dispatch.
    """
    if last is None:
        return {}
    limit = limit_bytes()
    return {
        one["name"]: last.taken_at
        for one in last.brokers
        if one["read"]
        and one["read_from"] is None
        and DispatchBacklog(one.get("dispatch_behind_bytes")).hides_more_than(limit) is None
    }


def with_first_stored(after: Columns, before: Columns, ends: Mapping[str, datetime], now: datetime) -> Columns:
    """`after`, read at `now`, with the time of the first unconsumed message of each queue that has a lag.

    A message that the reading before, of `ends`, did not have was stored between the two readings: when is interpolated
    by offset. The time of an offset that has not moved stays as it is. Nothing is known where the broker offset went
    back, or the reading before failed, or the offset moved to a message that was older than that.
    """
    if not len(before.keys):
        return after
    at, found = before.find(after.keys)
    was, offsets = before.offsets[at], after.offsets.copy()
    consumer, end, was_end = offsets[:, CONSUMER], offsets[:, END], was[:, END]
    comparable = found & has_lag(after) & is_known(before)[at] & (was_end <= end)
    times = {name: microseconds(when) for name, when in ends.items()}
    read_us = np.array([times.get(name or "", NULL) for name in after.brokers.texts], np.int64)[after.brokers.codes]
    now_us = microseconds(now)
    stays = comparable & (was[:, CONSUMER] == consumer) & (was_end > consumer)
    between = comparable & (was_end <= consumer) & (read_us != NULL) & (read_us < now_us)
    offsets[:, [STORED, ERROR]] = NULL
    offsets[stays, STORED], offsets[stays, ERROR] = was[stays, STORED], was[stays, ERROR]
    gap_us = now_us - read_us[between]
    share = (consumer - was_end)[between] / (end - was_end)[between]
    offsets[between, STORED] = read_us[between] + np.floor(share * gap_us).astype(np.int64)
    offsets[between, ERROR] = _error_us(gap_us)
    return replace(after, offsets=offsets)


def _error_us(gap_us: np.ndarray) -> np.ndarray:
    """As that of an evaluated time lag: at least one poll, and what is committed late."""
    poll_us = settings.CONSUMERSCOPE_POLL_SECONDS * SECOND_US
    commit_us = settings.JUDGE["commit_interval_seconds"] * SECOND_US
    return (np.maximum(gap_us, poll_us) + commit_us).astype(np.int64)
