"""Windows per queue, out of the lake."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings

from consumers.lake.one_group import TooManyRows
from consumers.lake.store import Lake
from consumers.selectors.column_lists import as_list

from .stored_windows import stored_queue_windows
from .window_range import TooManyPoints, WindowRange, refuse_too_many

QueueKey = tuple[str, str, int]
KEY = ["topic", "broker", "queue_id"]
COLUMNS = (
    "start",
    "topic",
    "broker",
    "queue_id",
    "lag_messages",
    "time_lag_seconds",
    "consume_rate",
    "produce_rate",
    "readings",
    "unknown_reason",
)
# Of queues that are weighed against each other rows are held as columns, a twentieth of what a point takes.
ROWS_OF_A_POINT = 20
SECOND = 1_000_000


class Window(NamedTuple):
    """A tuple, because a page makes ten thousands of them."""

    lag_messages: int | None
    time_lag_seconds: float | None
    consume_rate: float | None
    produce_rate: float | None
    readings: int
    unknown_reason: str | None


def queue_windows(
    cluster: str,
    group: str,
    windows: WindowRange,
    *,
    named: Mapping[str, object] | None = None,
    most_behind: int | None = None,
) -> dict[QueueKey, dict[int, Window]]:
    """Per queue, in order, the windows that were aggregated, by their place in the range.

    `named`: of queues with this topic, broker or id alone. `most_behind`: of so many, those with the longest lag.
    Raises RangeError where that is more than is answered at once.
    """
    found = _rows(cluster, group, windows, named or {}, is_ranked=most_behind is not None)
    queues = found.group_by(KEY).aggregate([("lag_messages", "max")])
    if most_behind is not None and queues.num_rows > most_behind:
        queues = queues.sort_by([("lag_messages_max", "descending")]).slice(0, most_behind)
        found = found.join(queues.select(KEY), KEY, join_type="inner")
    refuse_too_many(windows, queues.num_rows)
    return _queues(found, windows)


def _rows(cluster: str, group: str, windows: WindowRange, named: Mapping[str, object], *, is_ranked: bool) -> pa.Table:
    step = windows.step_seconds
    most = settings.HISTORY_POINTS * (ROWS_OF_A_POINT if is_ranked else 1)
    lake, span = Lake.at(settings.CONSUMERSCOPE_LAKE), (windows.start, windows.until)
    try:
        return stored_queue_windows(lake, cluster, group, step, span, COLUMNS, equal=named, most_rows=most)
    except TooManyRows:
        sentence = f"The group had more queues in this range than are told: more than {most:,} windows of {step} s."
        raise TooManyPoints(f"{sentence} Ask for a shorter range, or name queues.") from None


def _queues(found: pa.Table, windows: WindowRange) -> dict[QueueKey, dict[int, Window]]:
    found = found.sort_by([(name, "ascending") for name in (*KEY, "start")])
    # Places as numbers: thousands of moments as objects take longer than all the rest.
    start = pc.cast(found["start"], pa.int64()).to_numpy()
    places = (start // SECOND - int(windows.start.timestamp())) // windows.step_seconds
    rows = zip(places.tolist(), *(as_list(found[name]) for name in COLUMNS[1:]), strict=True)
    queues: dict[QueueKey, dict[int, Window]] = defaultdict(dict)
    for row in rows:
        queues[row[1:4]][row[0]] = Window(*row[4:])
    return dict(queues)
