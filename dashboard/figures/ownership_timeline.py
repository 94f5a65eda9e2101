"""Who owned which queue over time, one row a queue. One without an owner, or with several, cannot be overlooked."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext as _

from consumers.selectors.ownership.rows import Holding, Timeline, TimelineRun
from dashboard.wording.times import clock

from .layout import QUIET, figure
from .ownership_alarms import alarms, rebalances
from .ownership_boxes import Box, boxes
from .ownership_rows import place, row_ticks, topic_ends
from .points import Change, Figure, Span, on_axis

OWNERS = 12
# The values of cells, from 1 on, and their colours. An unknown cell has no value.
KINDS = (Holding.NOBODY, Holding.SEVERAL, Holding.CHANGED)
COLOURS = [f"var(--owned-{kind})" for kind in KINDS] + [f"var(--owner-{n})" for n in range(1, OWNERS + 1)]
PATTERNS = {Holding.NOBODY: "x", Holding.SEVERAL: ".", Holding.CHANGED: "|"}
HATCH = {"shape": "/", "size": 6, "solidity": 0.18, "fgcolor": "var(--hatch)"}
# A word has room on a box of at least this share of the picture's width and height.
WORD_WIDTH, WORD_HEIGHT, MOST_WORDS = 0.12, 0.02, 12


def colour_number(owner: int) -> int:
    """Which colour the owner at this place of the list has, from 1. With many owners, several share one."""
    return owner % OWNERS + 1


def ownership_timeline(
    timeline: Timeline,
    changes: Sequence[Change],
    spans: Sequence[Span] = (),
    *,
    since: datetime,
    until: datetime,
    at: datetime | None = None,
) -> Figure:
    """Changes of state are marked on the time axis, rebalances (`spans`) in a lane above the queues.

    The first queue stands at the top. The axis is that of the figures beside it: the timeline's ends may stand out.
    `at`: the moment that the page's tables show, where it is not the newest.
    """
    step, queues = timedelta(seconds=timeline.step_seconds), timeline.queues
    edges = [timeline.since + step * cell for cell in range(timeline.cells)] + [timeline.until]
    drawn = figure(
        [
            *(_cells(timeline, edges), *_patterns(timeline, edges), *alarms(timeline, edges)),
            *rebalances(spans, since, until),
        ],
        since,
        until,
        changes,
        hovermode="closest",
        **place(len(queues)),
    )
    layout = drawn["layout"]
    layout["yaxis"] |= row_ticks(queues)
    layout["shapes"] += topic_ends(queues)
    layout["annotations"] += _words(timeline, edges)
    if not queues:
        layout["annotations"].append(_empty(timeline))
    if at is not None and since <= at <= until:
        layout["shapes"].append(_moment(at))
    return drawn


def _cells(timeline: Timeline, edges: Sequence[datetime]) -> Figure:
    """`runs` are spread into cells by the browser: [how many cells, their value, what they say]."""
    size, queues = len(COLOURS), timeline.queues
    texts: dict[tuple[Any, ...], str] = {}

    def text_of(run: TimelineRun) -> str:
        # Thousands of runs say the same, and each word is looked up in the language of the reader.
        if (text := texts.get(run[1:])) is None:
            text = texts[run[1:]] = said(run, timeline)
        return text

    scale = [[edge / size, colour] for i, colour in enumerate(COLOURS) for edge in (i, i + 1)]
    return {
        "type": "heatmap",
        "x": [on_axis(start + (end - start) / 2) for start, end in pairwise(edges)],
        "y": list(range(len(queues))),
        "names": [f"{queue.topic} / {queue.broker} / {queue.queue_id}" for queue in queues],
        "runs": [[[run.cells, _value(run), text_of(run)] for run in queue.runs] for queue in queues],
        "ygap": 1 if len(queues) <= 100 else 0,
        "zmin": 0.5,
        "zmax": size + 0.5,
        "colorscale": scale,
        "hovertemplate": "%{customdata}<extra></extra>",
        "showscale": False,
    }


def _value(run: TimelineRun) -> int | None:
    if run.holding is Holding.OWNER:
        return len(KINDS) + colour_number(run.owners[0])
    return KINDS.index(run.holding) + 1 if run.holding in KINDS else None


def said(run: TimelineRun, timeline: Timeline) -> str:
    """Who, since when and until when."""
    if run.holding is Holding.UNKNOWN:
        return _("unknown: %s") % run.reason
    names = ", ".join(timeline.owners[owner] for owner in run.owners)
    who = {
        Holding.OWNER: names,
        Holding.NOBODY: _("no owner"),
        Holding.SEVERAL: _("several owners: %s") % names,
        Holding.CHANGED: _("changed hands: %s") % names if names else _("changed hands"),
    }[run.holding]
    ends = {"since": clock(run.since, timeline.until), "until": clock(run.until, timeline.until)}
    when = (
        _("between %(since)s and %(until)s UTC") if run.holding is Holding.CHANGED else _("%(since)s to %(until)s UTC")
    )
    return f"{who}<br>{when % ends}"


def _patterns(timeline: Timeline, edges: Sequence[datetime]) -> Iterator[Figure]:
    """What is drawn over the cells, so that each kind is told apart without its colour."""
    for reason, found in sorted(boxes(timeline.queues, Holding.UNKNOWN).items()):
        yield _overlay(f"unknown: {reason}", edges, found, HATCH, {"width": 0})
    for holding, shape in PATTERNS.items():
        pattern = {"shape": shape, "size": 6, "solidity": 0.25, "fgcolor": "var(--paper)"}
        outline = {"width": 1, "color": f"var(--owned-{holding})"}
        for found in boxes(timeline.queues, holding).values():
            yield _overlay(str(holding), edges, found, pattern, outline)


def _overlay(name: str, edges: Sequence[datetime], found: Sequence[Box], pattern: Figure, line: Figure) -> Figure:
    xs: list[str | None] = []
    ys: list[float | None] = []
    for box in found:
        left, right = on_axis(edges[box.first]), on_axis(edges[box.last])
        top, bottom = box.top - 0.5, box.bottom - 0.5
        xs += [left, right, right, left, left, None]
        ys += [top, top, bottom, bottom, top, None]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": xs,
        "y": ys,
        "fill": "toself",
        "fillcolor": "rgba(0,0,0,0)",
        "fillpattern": pattern,
        "line": line,
        "hoverinfo": "skip",
    }


def _words(timeline: Timeline, edges: Sequence[datetime]) -> list[Figure]:
    """The word upon the largest boxes in which it has room."""
    words = {Holding.NOBODY: _("no owner"), Holding.SEVERAL: _("several owners")}
    width, height = WORD_WIDTH * timeline.cells, WORD_HEIGHT * len(timeline.queues)
    roomy = [
        (box, holding)
        for holding in words
        for found in boxes(timeline.queues, holding).values()
        for box in found
        if box.last - box.first >= width and box.bottom - box.top >= height
    ]
    roomy.sort(key=lambda pair: -(pair[0].last - pair[0].first) * (pair[0].bottom - pair[0].top))
    return [
        {
            "text": words[holding],
            "x": on_axis(edges[box.first] + (edges[box.last] - edges[box.first]) / 2),
            "y": (box.top + box.bottom - 1) / 2,
            "showarrow": False,
            "bgcolor": "var(--paper)",
            "borderpad": 0,
            "font": {"color": f"var(--owned-{holding})", "size": 11},
        }
        for box, holding in roomy[:MOST_WORDS]
    ]


def _moment(at: datetime) -> Figure:
    ends = {"xref": "x", "yref": "paper", "x0": on_axis(at), "x1": on_axis(at), "y0": 0, "y1": 1}
    return {"type": "line", **ends, "line": {"color": "var(--ink)", "width": 2}}


def _empty(timeline: Timeline) -> Figure:
    text = timeline.unknown_reason or _("no queue was seen to be owned in this range")
    centre = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
    return {"text": text, "font": {"color": QUIET, "size": 12}, **centre}
