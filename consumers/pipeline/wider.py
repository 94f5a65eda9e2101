"""Windows of an hour and of a day, from the next finer ones: beside the runs, once their span is over.

What is to be made is a row, written before the first of its finer windows is. So the cost goes by what is new, a
backfill makes its hours and days anew, and what was left out while no worker ran is caught up.
"""

import logging
import time
from collections.abc import Sequence
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.dataset as ds

from consumers.lake import reader
from consumers.lake.store import Lake
from consumers.lake.windows import put_window
from consumers.models import Cluster, ConsumerGroup, DueWindow
from consumers.pipeline.kernel.arrays.gathered import written_out

from .kernel.wide_windows import wide_windows
from .publish.window_rows import widen_groups
from .rows import Rows, Span, spans
from .slices import floor

logger = logging.getLogger(__name__)

HOUR_SECONDS, DAY_SECONDS = 3600, 86400
# What each is made from; the finest first.
FINER = {HOUR_SECONDS: 600, DAY_SECONDS: HOUR_SECONDS}
# Runs wait meanwhile. What is left is made at the next turn.
SECONDS_AT_ONCE = 10.0
# Finer windows in memory at once: about 300 MB of them.
ROWS_AT_ONCE = 1_000_000


def note_due(clusters: Sequence[str], at: datetime) -> None:
    """A window of ten minutes that holds `at` is about to be written: its hour and day are made (anew) afterwards."""
    DueWindow.objects.bulk_create(
        (
            DueWindow(cluster=cluster, step_seconds=step, start=floor(at, timedelta(seconds=step)))
            for cluster in Cluster.objects.filter(name__in=clusters)
            for step in FINER
        ),
        ignore_conflicts=True,
    )


def make_due(
    lake: Lake, now: datetime, margin: timedelta, reach: timedelta, seconds_at_once: float = SECONDS_AT_ONCE
) -> int:
    """Makes what is due and ended longer than `margin` ago, the oldest first: all hours, then days.
    Returns how many; after `seconds_at_once` the rest is left to the next turn.

    `reach`: how long before a window the reading may lie that its volumes count from.
    """
    made, until = 0, time.monotonic() + seconds_at_once
    for step in FINER:
        length = timedelta(seconds=step)
        closed = DueWindow.objects.filter(step_seconds=step, start__lte=now - margin - length).order_by("start")
        for due in closed.select_related("cluster"):
            if made and time.monotonic() >= until:
                logger.info("Hours and days are left to the next turn: %d were made.", made)
                return made
            _make(lake, due, length, reach)
            due.delete()
            made += 1
    return made


def _make(lake: Lake, due: DueWindow, length: timedelta, reach: timedelta) -> None:
    """Where no finer window is kept any more, what was made of them stays."""
    cluster, step, start, end = due.cluster, due.step_seconds, due.start, due.start + length
    rows = _merged(lake, cluster.name, step, start, end)
    if rows.num_rows:
        put_window(lake, f"windows_{step}", cluster.name, start, rows)
    # Groups have those of an hour from the run itself.
    if step == DAY_SECONDS:
        groups = set(ConsumerGroup.objects.filter(cluster=cluster).values_list("pk", flat=True))
        widen_groups(groups, FINER[step], step, start, end, reach)


def _merged(lake: Lake, cluster: str, step: int, start: datetime, end: datetime) -> pa.Table:
    table = f"windows_{FINER[step]}"

    def shares(names: list[str]) -> tuple[Span, ...]:
        rows = ds.dataset(names, format="parquet", filesystem=lake.filesystem).count_rows() if names else 0
        return spans(lake, names[-1:], -(-rows // ROWS_AT_ONCE))

    found = reader.steadily(lake, lambda: reader.files(lake, table, cluster, start, end), shares)
    parts = (Rows(lake, [cluster], span).table(table, start, end) for span in found)
    return pa.concat_tables(written_out(wide_windows(part, step)) for part in parts)
