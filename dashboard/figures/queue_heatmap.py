"""The lag of every queue over time, a row each. An unknown cell is hatched, and only a lag of zero is drawn as zero."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby

from django.utils.translation import gettext as _

from consumers.rocketmq.names import RETRY_PREFIX

from .layout import AXIS, MARGIN, Change, Figure, Line, Span, aside, figure, no_reason, on_axis

ROW_PIXELS, EDGE_PIXELS, LABEL_LETTERS = 14, 82, 14
SCALE = [[i / 4, f"var(--heat-{i})"] for i in range(5)]


def queue_heatmap(
    starts: Sequence[datetime],
    step: timedelta,
    queues: Sequence[Line],
    changes: Sequence[Change],
    spans: Sequence[Span] = (),
    *,
    until: datetime,
) -> Figure:
    """The first queue stands at the top."""
    most = max((value for queue in queues for value in queue.values if value is not None), default=None)
    middles = [on_axis(start + step / 2) for start in starts]
    heat = {
        "type": "heatmap",
        "x": middles,
        "y": list(range(len(queues))),
        "z": [list(queue.values) for queue in queues],
        # For every cell of a row, to which the browser spreads it.
        "names": [queue.name for queue in queues],
        "xgap": 1 if len(starts) <= 120 else 0,
        "ygap": 1,
        "zmin": 0,
        "zmax": most or 1,
        "colorscale": SCALE,
        "hoverongaps": False,
        "hovertemplate": f"%{{customdata}}<br>%{{z:,d}} {_('messages')}<extra></extra>",
        "showscale": False,
    }
    since = starts[0] if starts else until - step
    drawn = figure(
        [heat, *_hatched(starts, step, queues)],
        since,
        until,
        changes,
        spans,
        height=EDGE_PIXELS + ROW_PIXELS * max(4, len(queues)),
        hovermode="closest",
        margin={**MARGIN, "t": 40},
        yaxis={
            **AXIS,
            "range": [len(queues) - 0.5, -0.5],
            "tickvals": list(range(len(queues))),
            "ticktext": labels([queue.name for queue in queues]),
            "showgrid": False,
        },
    )
    _draw_scale(drawn["layout"], most)
    return drawn


COLOUR_PIXELS, SCALE_GAP_PIXELS = 18, 6


def _draw_scale(layout: Figure, most: float | None) -> None:
    """What the colours mean, with a bar of them: in a dark theme more is lighter. Plotly's own bar of colours would
    move the time axis away from its neighbour's."""
    if not most:
        words = _("no queue has a known lag in this range") if most is None else _("0 messages")
        layout["annotations"].append(aside(words))
        return
    ends = aside(_("0 to %(most)s messages") % {"most": f"{most:,.0f}"})
    layout["annotations"].append(ends | {"xshift": -len(SCALE) * COLOUR_PIXELS - SCALE_GAP_PIXELS})
    anchored = {
        "xref": "paper",
        "xanchor": 1,
        "xsizemode": "pixel",
        "yref": "paper",
        "yanchor": 1,
        "ysizemode": "pixel",
    }
    layout["shapes"] += [
        {
            **anchored,
            "type": "rect",
            "x0": -(len(SCALE) - i) * COLOUR_PIXELS,
            "x1": -(len(SCALE) - i - 1) * COLOUR_PIXELS,
            "y0": 17,
            "y1": 27,
            "fillcolor": colour,
            "line": {"width": 0},
        }
        for i, (_share, colour) in enumerate(SCALE)
    ]


def labels(names: Sequence[str]) -> list[str]:
    """What tells the queues apart, without the words that all names share; the whole name is on hover."""
    words = [name.split(" / ") for name in names]
    size = min((len(one) for one in words), default=0)
    shown = [i for i in range(size) if i == size - 1 or len(names) == 1 or any(one[i] != words[0][i] for one in words)]
    return [_label([one[i] for i in shown]) for one in words]


def _label(words: Sequence[str]) -> str:
    """The last is the queue's id and stays whole; the first, of several, loses its end."""
    *before, last = words
    room = LABEL_LETTERS - len(last) - 3
    # Of a group there is one such topic: its name would say the group's once more.
    name = " / ".join(RETRY_PREFIX if one.startswith(RETRY_PREFIX) else one for one in before)
    if not name:
        return last if len(last) <= LABEL_LETTERS else f"…{last[1 - LABEL_LETTERS :]}"
    return f"{name if len(name) <= room else f'{name[: room - 1]}…'} / {last}"


def _hatched(starts: Sequence[datetime], step: timedelta, queues: Sequence[Line]) -> Iterator[Figure]:
    """One trace for each reason: rectangles over the runs of windows that are unknown for it."""
    boxes: dict[str, tuple[list[str | None], list[float | None]]] = {}
    for row, queue in enumerate(queues):
        for reason, first, last in _gaps(queue):
            xs, ys = boxes.setdefault(reason, ([], []))
            left, right = on_axis(starts[first]), on_axis(starts[last] + step)
            xs += [left, right, right, left, left, None]
            ys += [row - 0.5, row - 0.5, row + 0.5, row + 0.5, row - 0.5, None]
    for reason, (xs, ys) in sorted(boxes.items()):
        yield {
            "type": "scatter",
            "mode": "lines",
            "name": _("unknown: %s") % reason,
            "x": xs,
            "y": ys,
            "fill": "toself",
            "fillcolor": "rgba(0,0,0,0)",
            "fillpattern": {"shape": "/", "size": 6, "solidity": 0.18, "fgcolor": "var(--hatch)"},
            "line": {"width": 0},
            "hoveron": "fills",
            "hoverinfo": "name",
            "hoverlabel": {"namelength": -1},
        }


def _gaps(queue: Line) -> Iterator[tuple[str, int, int]]:
    """Runs of unknown windows with one reason: the reason, the first window and the last."""
    cells = enumerate(zip(queue.values, queue.reasons, strict=True))
    for (is_gap, reason), run in groupby(cells, key=lambda cell: (cell[1][0] is None, cell[1][1])):
        indexes = [index for index, _cell in run]
        if is_gap:
            yield reason or no_reason(), indexes[0], indexes[-1]
