"""Who owned which queue over time, one row a queue. One without an owner, or with several, cannot be overlooked."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import accumulate, groupby
from typing import Any, NamedTuple

from django.utils.translation import gettext as _, ngettext

from consumers.ownership.rows import Holding, Timeline, TimelineQueue, TimelineRun
from consumers.words.marks import listed
from dashboard.wording.numbers import clock, zoned

from .layout import AXIS, INK, LEFT, QUIET, REBALANCE, Change, Figure, Span, figure, on_axis
from .queue_heatmap import LABEL_LETTERS

# The stretches of one kind in the ownership picture, as few rectangles as there can be.


class Box(NamedTuple):
    """The same cells of queues that stand under each other; cells and rows are counted from 0, ends excluded."""

    first: int
    last: int
    top: int
    bottom: int


def placed(queue: TimelineQueue) -> Iterator[tuple[int, int, TimelineRun]]:
    """Each run with its first cell and the one behind its last."""
    first = 0
    for run in queue.runs:
        yield first, first + run.cells, run
        first += run.cells


def boxes(queues: Sequence[TimelineQueue], holding: Holding) -> dict[str, list[Box]]:
    """All runs of one kind by their reason, empty where they have none. Equal ones under each other are one box."""
    found: dict[str, list[Box]] = {}
    growing: dict[tuple[str, int, int], int] = {}
    for row in range(len(queues) + 1):
        here = _of_kind(queues[row], holding) if row < len(queues) else set()
        for key in [key for key in growing if key not in here]:
            reason, first, last = key
            found.setdefault(reason, []).append(Box(first, last, growing.pop(key), row))
        growing |= dict.fromkeys(here - growing.keys(), row)
    return found


def _of_kind(queue: TimelineQueue, holding: Holding) -> set[tuple[str, int, int]]:
    return {(run.reason or "", first, last) for first, last, run in placed(queue) if run.holding is holding}


# Lanes above the ownership picture: queues without an owner, with several, and rebalances. A row is easily missed.

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
            "customdata": [_title(holding, most, edges[first], edges[last], edges[-1]) for first, last, most in runs],
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


def _title(holding: Holding, most: int, since: datetime, until: datetime, now: datetime) -> str:
    if holding is Holding.NOBODY:
        words = ngettext("%(n)s queue had no owner", "up to %(n)s queues had no owner", most)
    else:
        words = ngettext("%(n)s queue had several owners", "up to %(n)s queues had several owners", most)
    between = _("within %(since)s to %(until)s") % {"since": clock(since, now), "until": zoned(until, now)}
    return f"{words % {'n': f'{most:,}'}}<br>{between}"


def rebalances(spans: Sequence[Span], since: datetime, until: datetime) -> Iterator[Figure]:
    """A line over each that touches the axis, with a sign at its beginning. A point of null ends each line."""
    shown = [span for span in spans if span.until >= since and span.since <= until]
    if shown:
        ends = [(on_axis(max(since, span.since)), on_axis(min(until, span.until)), None) for span in shown]
        yield {
            "type": "scatter",
            "mode": "lines+text",
            "name": "rebalances",
            "x": [at for line in ends for at in line],
            "y": [OF_REBALANCES] * 3 * len(shown),
            "yaxis": "y2",
            "line": {"color": "var(--rebalance)", "width": 4},
            "text": [REBALANCE, "", ""] * len(shown),
            "textfont": {"color": INK, "size": 13},
            "customdata": [span.text for span in shown for _end in range(3)],
            "hovertemplate": "%{customdata}<extra></extra>",
        }


# The rows of the ownership picture: how high they are, what is written beside them, where a topic ends.

ROOMY_PIXELS, ROOMY_QUEUES, ROW_PIXELS, MOST_PIXELS, LABEL_PIXELS = 22, 24, 14, 1200, 14
LANE_PIXELS, TOP, FOOT = 64, 30, 42


def rows_height(queues: int) -> int:
    """Rows grow thin where there are many; the picture never outgrows two screens."""
    return ROOMY_PIXELS * max(2, queues) if queues <= ROOMY_QUEUES else min(MOST_PIXELS, ROW_PIXELS * queues)


def place(queues: int) -> Figure:
    """The lanes of alarms above the rows, each in its share of the height."""
    plot = rows_height(queues) + LANE_PIXELS
    lanes_from = rows_height(queues) / plot
    return {
        "height": plot + TOP + FOOT,
        "margin": {"l": LEFT, "r": 14, "t": TOP, "b": FOOT},
        "yaxis": {
            **AXIS,
            "domain": [0, lanes_from],
            "range": [queues - 0.5, -0.5],
            "showgrid": False,
        },
        "yaxis2": {**AXIS, "domain": [lanes_from, 1], "fixedrange": True, "showgrid": False, **lanes()},
    }


def row_ticks(queues: Sequence[TimelineQueue]) -> Figure:
    """Each topic and broker by name at its first queue, then as many queue ids as have room."""
    pixels = rows_height(len(queues)) / max(1, len(queues))
    apart = -(-LABEL_PIXELS // pixels)
    heads = _heads(queues)
    ticks: dict[float, str] = {}
    free_from = 0.0
    for row, queue in enumerate(queues):
        if row < free_from:
            continue
        if row in heads:
            lines = _head(queues, row)
            # Text stands centred on its tick: of two lines the first is to stand at the queue.
            ticks[row + (len(lines) - 1) * LABEL_PIXELS / pixels / 2] = "<br>".join(lines)
            free_from = row + len(lines) * apart
        elif not any(row < head < row + apart for head in heads):
            ticks[row] = str(queue.queue_id)
            free_from = row + apart
    return {"tickvals": list(ticks), "ticktext": list(ticks.values())}


def topic_ends(queues: Sequence[TimelineQueue]) -> list[Figure]:
    """A line between one topic or broker and the next."""
    return [
        {
            "type": "line",
            "xref": "paper",
            "yref": "y",
            "x0": 0,
            "x1": 1,
            "y0": row - 0.5,
            "y1": row - 0.5,
            "line": {"color": "var(--ink-quiet)", "width": 1},
        }
        for row in _heads(queues)
        if row
    ]


def _heads(queues: Sequence[TimelineQueue]) -> list[int]:
    """The rows at which a block begins."""
    return [
        row
        for row, queue in enumerate(queues)
        if not row or (queue.topic, queue.broker) != (queues[row - 1].topic, queues[row - 1].broker)
    ]


def _head(queues: Sequence[TimelineQueue], row: int) -> list[str]:
    """Topic, broker and queue id, without what all queues share; two lines where both topic and broker differ."""
    topic, broker = queues[row].topic, queues[row].broker
    shows_topic = any(queue.topic != topic for queue in queues)
    shows_broker = any(queue.broker != broker for queue in queues)
    ends = f"{broker} / {queues[row].queue_id}" if shows_broker else str(queues[row].queue_id)
    if not shows_topic:
        return [_end_of(ends)]
    return [_begin_of(topic), _end_of(ends)] if shows_broker else [_end_of(f"{topic} / {ends}")]


def _begin_of(text: str) -> str:
    return text if len(text) < LABEL_LETTERS else f"{text[: LABEL_LETTERS - 2]}…"


def _end_of(text: str) -> str:
    return text if len(text) <= LABEL_LETTERS else f"…{text[1 - LABEL_LETTERS :]}"


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
            text = texts[run[1:]] = run_title(run, timeline)
        return text

    scale = [[edge / size, colour] for i, colour in enumerate(COLOURS) for edge in (i, i + 1)]
    return {
        "type": "heatmap",
        "x0": on_axis(edges[0] + timedelta(seconds=timeline.step_seconds) / 2),
        "dx": timeline.step_seconds * 1000,
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


def run_title(run: TimelineRun, timeline: Timeline) -> str:
    """Who, since when and until when."""
    if run.holding is Holding.UNKNOWN:
        return _("unknown: %s") % run.reason
    names = listed(timeline.owners[owner] for owner in run.owners)
    who = {
        Holding.OWNER: names,
        Holding.NOBODY: _("no owner"),
        Holding.SEVERAL: _("several owners: %s") % names,
        Holding.CHANGED: _("reassigned: %s") % names if names else _("reassigned"),
    }[run.holding]
    ends = {"since": clock(run.since, timeline.until), "until": zoned(run.until, timeline.until)}
    when = _("between %(since)s and %(until)s") if run.holding is Holding.CHANGED else _("%(since)s to %(until)s")
    return f"{who}<br>{when % ends}"


def _patterns(timeline: Timeline, edges: Sequence[datetime]) -> Iterator[Figure]:
    """Returns patterns that are drawn over the cells, so that each kind is recognizable without its colour."""
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
    text = timeline.unknown_reason or _("no queue owner known in this range")
    centre = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
    return {"text": text, "font": {"color": QUIET, "size": 12}, **centre}
