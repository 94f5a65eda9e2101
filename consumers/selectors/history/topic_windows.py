"""Windows of queues, summed by topic: a sum is known only where every queue of it is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from consumers.vocabulary.unknown import NO_LAG_REASONS

from .queue_windows import QueueKey, Window

Number = TypeVar("Number", int, float)
UNREAD_QUEUE = "a queue of it was not read in this window"


@dataclass(frozen=True)
class _Part:
    key: QueueKey
    first: int
    windows: dict[int, Window]


def topic_windows(queues: dict[QueueKey, dict[int, Window]], count: int) -> dict[str, dict[int, Window]]:
    """Per topic, by the place in the range. A queue belongs to its topic from its first window on."""
    topics: dict[str, list[_Part]] = {}
    for key, windows in queues.items():
        topics.setdefault(key[0], []).append(_Part(key, min(windows), windows))
    joined: dict[str, dict[int, Window]] = {}
    for topic, parts in topics.items():
        sums = {index: _sum(index, parts) for index in range(count)}
        joined[topic] = {index: window for index, window in sums.items() if window is not None}
    return joined


def _sum(index: int, parts: list[_Part]) -> Window | None:
    expected = [part for part in parts if part.first <= index]
    present = [part.windows[index] for part in expected if index in part.windows]
    if not present:
        return None
    if len(present) < len(expected):
        return Window(None, None, None, None, min(window.readings for window in present), UNREAD_QUEUE)
    # A queue that has no lag by its nature (never committed) leaves the sum of the others whole.
    counted = [window for window in present if window.unknown_reason not in NO_LAG_REASONS]
    lags = _known(window.lag_messages for window in counted)
    times = _known(window.time_lag_seconds for window in counted)
    consumed = _known(window.consume_rate for window in counted)
    produced = _known(window.produce_rate for window in counted)
    reasons = [window.unknown_reason for window in counted or present if window.lag_messages is None]
    return Window(
        lag_messages=sum(lags) if lags else None,
        time_lag_seconds=max(times) if times else None,
        consume_rate=sum(consumed) if consumed else None,
        produce_rate=sum(produced) if produced else None,
        readings=min(window.readings for window in present),
        unknown_reason=reasons[0] if reasons else None,
    )


def _known(numbers: Iterable[Number | None]) -> list[Number] | None:
    """All of them, or null where one is unknown or there is none: a part of a sum is not the sum."""
    values = list(numbers)
    known = [value for value in values if value is not None]
    return known if known and len(known) == len(values) else None
