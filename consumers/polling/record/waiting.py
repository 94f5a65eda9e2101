"""Since when messages wait behind each consumer offset: the first reading that had the same offset, with a lag.

A queue whose offset moves waits anew: whoever is behind and consumes never waits for long.
"""

from collections.abc import Iterator
from datetime import datetime

import numpy as np

from .snapshots import NULL, OFFSETS, Columns

CONSUMER, END = OFFSETS.index("consumer_offset"), OFFSETS.index("broker_offset")


def by_waiting(
    before: Columns, after: Columns, chosen: np.ndarray, now: datetime
) -> Iterator[tuple[np.ndarray, dict[str, datetime | None]]]:
    """The `chosen` rows of `after` in parts, each with what to store of it; no field where what is stored stays."""
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
    """Of each row, whether it is known to have one."""
    consumer, end = columns.offsets[:, CONSUMER], columns.offsets[:, END]
    return columns.reasons.is_in([None]) & (consumer != NULL) & (end != NULL) & (end > consumer)


def _waited(before: Columns, after: Columns) -> np.ndarray:
    """Of each row of `after`, whether it had a lag at the same consumer offset before."""
    if not len(before.keys):
        return np.zeros(len(after.keys), bool)
    at, same = before.find(after.keys)
    return same & has_lag(before)[at] & (before.offsets[at, CONSUMER] == after.offsets[:, CONSUMER])
