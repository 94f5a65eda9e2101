"""Lanes above the ownership picture: queues without an owner, with several, and rebalances. A row is easily missed."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import accumulate, groupby

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from consumers.selectors.ownership.rows import Holding, Timeline, TimelineQueue
from dashboard.wording.times import clock

from .layout import INK
from .ownership_boxes import placed
from .points import REBALANCE, Figure, Span, on_axis

SYMBOLS = {Holding.NOBODY: "triangle-down", Holding.SEVERAL: "square"}
HEIGHTS, OF_REBALANCES = {Holding.NOBODY: 0.5, Holding.SEVERAL: 1.5}, 2.5


def lanes() -> Figure:
    """The axis on which the marks stand: a lane for each kind."""
    words = [_("no owner"), _("several owners"), _("rebalances")]
    return {"range": [3.5, 0], "tickvals": [*HEIGHTS.values(), OF_REBALANCES], "ticktext": words}


def alarms(timeline: Timeline, edges: Sequence[datetime]) -> Iterator[Figure]:
    """One trace for each kind that is there; a mark stands in the middle of the cells in a row that have it."""
    for holding, symbol in SYMBOLS.items():
        runs = list(_runs(_counts(timeline.cells, timeline.queues, holding)))
        if not runs:
            continue
        yield {
            "type": "scatter",
            "mode": "markers",
            "name": str(holding),
            "x": [on_axis(edges[first] + (edges[last] - edges[first]) / 2) for first, last, _most in runs],
            "y": [HEIGHTS[holding]] * len(runs),
            "yaxis": "y2",
            "customdata": [_said(holding, most, edges[first], edges[last], edges[-1]) for first, last, most in runs],
            "hovertemplate": "%{customdata}<extra></extra>",
            "marker": {"symbol": symbol, "size": 9, "color": f"var(--owned-{holding})"},
        }


def _counts(cells: int, queues: Sequence[TimelineQueue], holding: Holding) -> list[int]:
    """How many queues are so, cell by cell."""
    changes = [0] * (cells + 1)
    for queue in queues:
        for first, last, run in placed(queue):
            if run.holding is holding:
                changes[first] += 1
                changes[last] -= 1
    return list(accumulate(changes[:-1]))


def _runs(counts: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Cells in a row in which a queue is so: the first, the one behind the last, and how many queues at most."""
    for is_so, run in groupby(enumerate(counts), key=lambda cell: cell[1] > 0):
        cells = list(run)
        if is_so:
            yield cells[0][0], cells[-1][0] + 1, max(count for _index, count in cells)


def _said(holding: Holding, most: int, since: datetime, until: datetime, now: datetime) -> str:
    if holding is Holding.NOBODY:
        words = ngettext("%(n)s queue had no owner", "up to %(n)s queues had no owner", most)
    else:
        words = ngettext("%(n)s queue had several owners", "up to %(n)s queues had several owners", most)
    between = _("within %(since)s to %(until)s UTC") % {"since": clock(since, now), "until": clock(until, now)}
    return f"{words % {'n': f'{most:,}'}}<br>{between}"


def rebalances(spans: Sequence[Span], since: datetime, until: datetime) -> Iterator[Figure]:
    """A sign at the beginning of each that touches the axis."""
    shown = [span for span in spans if span.until >= since and span.since <= until]
    if shown:
        yield {
            "type": "scatter",
            "mode": "text",
            "name": "rebalances",
            "x": [on_axis(max(since, span.since)) for span in shown],
            "y": [OF_REBALANCES] * len(shown),
            "yaxis": "y2",
            "text": [REBALANCE] * len(shown),
            "textfont": {"color": INK, "size": 13},
            "customdata": [span.text for span in shown],
            "hovertemplate": "%{customdata}<extra></extra>",
        }
