"""What all figures share. Colours are names of variables.css; the browser fills them in for the theme in use."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from itertools import groupby
from typing import Any

from django.utils.translation import gettext as _

from consumers.words.marks import chained, labelled, listed
from consumers.words.spans import local, minutes_ahead
from dashboard.wording.numbers import minute, zone_name

# Points of a series, and where they are missing.

# What the figures draw: values at equal steps of time. None is unknown, and says why.
Figure = dict[str, Any]

# Signs of spans.
REBALANCE, RESET, REPEAT = "⇄", "↺", "⟲"


@dataclass(frozen=True)
class Line:
    """One quantity over time; `reasons` says of each None why it is unknown. `absent`: places where there is nothing
    that could be known: a gap without a hatch."""

    name: str
    values: Sequence[float | None]
    reasons: Sequence[str | None]
    absent: Collection[int] = ()


@dataclass(frozen=True)
class Change:
    """A change of state, drawn as a mark on the time axis."""

    at: datetime
    state: str
    text: str


@dataclass(frozen=True)
class Span:
    """Something that went on from `since` to `until`, drawn as a bar at the foot, with a sign, and a faint band behind
    what the figure shows; `text` tells it on hover.

    With a `lane`, counted from the top, it is a bar there instead, so that several stand one under the other. `href`:
    where a press on its sign leads.
    """

    since: datetime
    until: datetime
    text: str
    sign: str = REBALANCE
    colour: str = "var(--rebalance)"
    lane: int | None = None
    href: str = ""


def on_axis(at: datetime) -> str:
    """Plotly knows no zones: an axis is of the reader's clock, and its page says which."""
    return local(at).strftime("%Y-%m-%d %H:%M:%S")


# What is unknown is hatched over the whole height of a figure, and says why on hover; it never stands at zero.
# The axis of the hatches, beside that of the values: it has no ticks, and goes from 0 to 1.
HATCH_AXIS: Figure = {"overlaying": "y", "visible": False, "range": [0, 1], "fixedrange": True}

HATCH: Figure = {
    "color": "rgba(0,0,0,0)",
    "line": {"width": 0},
    "pattern": {"shape": "/", "size": 6, "solidity": 0.18, "fgcolor": "var(--hatch)", "fillmode": "replace"},
}


def no_reason() -> str:
    return _("no reason recorded")


def why_unknown(lines: Sequence[Line], window: int) -> str | None:
    """Why a window is not known completely; null where it is. A reason of all lines stands alone."""
    missing: dict[str, list[str]] = {}
    for line in lines:
        if line.values[window] is None and window not in line.absent:
            missing.setdefault(line.reasons[window] or no_reason(), []).append(line.name)
    if not missing:
        return None
    if len(missing) == 1 and len(next(iter(missing.values()))) == len(lines):
        return next(iter(missing))
    return chained(labelled(listed(names), reason) for reason, names in missing.items())


def hatched(starts: Sequence[datetime], step: timedelta, lines: Sequence[Line]) -> Figure:
    """A hatched column over neighbouring windows that are unknown for the same reason, on the axis `y2`."""
    reasons = [why_unknown(lines, window) for window in range(len(starts))]
    columns: list[tuple[int, int, str]] = []
    for reason, run in groupby(range(len(starts)), key=lambda i: reasons[i]):
        places = list(run)
        if reason is not None:
            columns.append((places[0], len(places), reason))
    return {
        "type": "bar",
        "name": _("unknown"),
        "x": [on_axis(starts[first] + step * size / 2) for first, size, _reason in columns],
        "y": [1] * len(columns),
        "width": [step.total_seconds() * 1000 * size for _first, size, _reason in columns],
        "yaxis": "y2",
        "showlegend": False,
        "customdata": [reason for _first, _size, reason in columns],
        "hovertemplate": "%{customdata}",
        "marker": HATCH,
    }


CONFIG = {"displayModeBar": False, "responsive": True, "doubleClick": "reset", "showTips": False}
INK, QUIET, RULE, PAPER = "var(--ink)", "var(--ink-quiet)", "var(--rule)", "var(--paper)"
# All figures of a page share their time axis, so that one moment stands under the other.
LEFT = 104
MARGIN: Figure = {"l": LEFT, "r": 14, "t": 22, "b": 42}
# Room above a figure for a quiet sentence over the marks.
ABOVE = 42
# Parts of the height: of a bar, and from one bar to the next.
BAR, LANE = 0.02, 0.09
AXIS: dict[str, Any] = {
    "showline": True,
    "linecolor": "var(--rule-strong)",
    "gridcolor": RULE,
    "zeroline": False,
    "ticks": "outside",
    "ticklen": 4,
    "tickcolor": "var(--rule-strong)",
    "tickfont": {"color": QUIET},
}
# Numbers alone: Plotly has names of months in English. The second line is written where it changes. Narrow pictures
# have fewer labels, not slanted ones, which would be cut.
TIMES: dict[str, Any] = {
    "type": "date",
    "tickangle": 0,
    "tickformatstops": [
        {"dtickrange": [None, 59_999], "value": "%H:%M:%S\n%Y-%m-%d"},
        {"dtickrange": [60_000, 86_399_999], "value": "%H:%M\n%Y-%m-%d"},
        {"dtickrange": [86_400_000, "M1"], "value": "%m-%d\n%Y"},
        {"dtickrange": ["M1", None], "value": "%Y-%m"},
    ],
}


# Half the longest word on a narrow figure.
NEAR_END = 0.12


def figure(
    traces: list[Figure],
    since: datetime,
    until: datetime,
    changes: Sequence[Change],
    spans: Sequence[Span] = (),
    **layout: Any,
) -> Figure:
    """A Plotly figure over [since, until], with changes of state, and `spans`, marked on its time axis."""
    shapes, annotations = _marks([change for change in changes if since <= change.at <= until], since, until)
    for span in spans:
        if span.until >= since and span.since <= until:
            shapes += _shades(span, since, until)
            annotations.append(_sign(span, since, until))
    # A stretch that is chosen on it becomes the range of an address, which is in UTC.
    axis = {**AXIS, **TIMES, "range": [on_axis(since), on_axis(until)], "showgrid": False}
    of_time = {"shapes": shapes, "annotations": annotations, "xaxis": axis, "meta": {"utcOffset": minutes_ahead(until)}}
    return plain_figure(traces, **{**of_time, **layout})


def plain_figure(traces: list[Figure], **layout: Any) -> Figure:
    """A Plotly figure in the site's colours, without an axis of time."""
    return {
        "data": traces,
        "layout": {
            "font": {"family": "system-ui, sans-serif", "size": 12, "color": INK},
            "paper_bgcolor": PAPER,
            "plot_bgcolor": PAPER,
            "margin": MARGIN,
            "hoverlabel": {"bgcolor": PAPER, "bordercolor": "var(--rule-strong)", "font": {"color": INK, "size": 12}},
            "showlegend": False,
            # Zoom and hidden lines outlive a refresh for as long as this stays the same.
            "uirevision": "kept",
            "shapes": [],
            "annotations": [],
            **layout,
        },
        "config": CONFIG,
    }


def aside(text: str) -> Figure:
    """A quiet sentence above the right end of a figure."""
    return {
        "text": text,
        "font": {"color": QUIET, "size": 11},
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": 1,
        "y": 1,
        "xanchor": "right",
        "yanchor": "bottom",
        "yshift": 14,
    }


def beginning(drawn: Figure, collected_since: datetime | None, now: datetime) -> Figure:
    """The figure, with a label where its data begins, if that is later than its range."""
    if collected_since is not None:
        text = _("collecting since %(time)s") % {"time": f"{minute(collected_since, now)} {zone_name()}"}
        drawn["layout"]["annotations"].append(aside(text) | {"x": 0, "xanchor": "left"})
        margin = drawn["layout"]["margin"]
        drawn["layout"]["margin"] = {**margin, "t": max(margin["t"], ABOVE)}
    return drawn


def _shades(span: Span, since: datetime, until: datetime) -> list[Figure]:
    """Over the time that it went on; the bar's edge shows it where it was too short for a bar."""
    if span.lane is not None:
        return [_bar(span, _top(span.lane) - BAR, since, until)]
    foot = _bar(span, 0.0, since, until)
    return [foot, {**foot, "y1": 1.0, "layer": "below", "opacity": 0.15, "line": {"width": 0}}]


def _bar(span: Span, foot: float, since: datetime, until: datetime) -> Figure:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": on_axis(max(since, span.since)),
        "x1": on_axis(min(until, span.until)),
        "y0": foot,
        "y1": foot + BAR,
        "fillcolor": span.colour,
        "opacity": 0.8,
        "line": {"color": span.colour, "width": 1},
    }


def _top(lane: int) -> float:
    return 1.0 - lane * LANE


def _sign(span: Span, since: datetime, until: datetime) -> Figure:
    first, last = max(since, span.since), min(until, span.until)
    is_bar = span.lane is not None
    return {
        "x": on_axis(first + (last - first) / 2),
        "y": 0 if span.lane is None else _top(span.lane) - BAR,
        "xref": "x",
        "yref": "paper",
        "yanchor": "top" if is_bar else "bottom",
        "xanchor": "center",
        "showarrow": False,
        "text": _linked(span) if span.href else span.sign,
        "hovertext": span.text,
        "font": {"color": span.colour if is_bar else QUIET, "size": 12},
    }


def _linked(span: Span) -> str:
    """Plotly gives links a colour of its own, if they do not bring one."""
    return f'<a href="{escape(span.href)}" target="_self" style="color:{span.colour}">{span.sign}</a>'


def _marks(changes: Sequence[Change], since: datetime, until: datetime) -> tuple[list[Figure], list[Figure]]:
    shapes = [
        {
            "type": "line",
            "xref": "x",
            "yref": "paper",
            "x0": on_axis(change.at),
            "x1": on_axis(change.at),
            "y0": 0,
            "y1": 1,
            "line": {"color": f"var(--state-{change.state.lower()})", "width": 1, "dash": "dot"},
        }
        for change in changes
    ]
    annotations = [
        {
            "x": on_axis(change.at),
            "y": 1,
            "xref": "x",
            "yref": "paper",
            "xanchor": _inwards((change.at - since) / (until - since)),
            "yanchor": "bottom",
            "showarrow": False,
            "text": change.state,
            "hovertext": change.text,
            "font": {"color": f"var(--state-{change.state.lower()})", "size": 10},
        }
        for change in changes
    ]
    return shapes, annotations


def _inwards(share: float) -> str:
    """Where a word at this share of the axis is held, so that no end of the figure cuts it."""
    if share < NEAR_END:
        return "left"
    return "right" if share > 1 - NEAR_END else "center"
