"""Changes of state over time, sparklines; the shapes that pictures are made of, and their time axis."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby

from django.utils.dateformat import format as written
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from consumers.words.spans import local, minutes_ahead

REBALANCE, RESET = "REBALANCE", "RESET"

CRITICAL, WARNING, INFO = "CRITICAL", "WARNING", "INFO"

_POLE = '<path d="M2 .5v11" fill="none" stroke="currentColor" stroke-width="1.6"/>'

# Drawn in a box of 12 by 12, filled with the colour of the text around it.
SHAPES = {
    "LOSS": '<path d="M2.2 .8 6 4.6 9.8 .8l1.4 1.4L7.4 6l3.8 3.8-1.4 1.4L6 7.4 2.2 11.2.8 9.8 4.6 6 .8 2.2z"/>',
    "STOP": '<path d="M6 .8 11.6 11H.4z"/>',
    "STALL": '<circle cx="6" cy="6" r="5"/>',
    "REWIND": '<path d="M6 11.2.4 1h11.2z"/>',
    "WARN": '<path d="M6 .3 11.7 6 6 11.7.3 6z"/>',
    "UNKNOWN": '<circle cx="6" cy="6" r="4.4" fill="none" stroke="currentColor" stroke-width="1.6" '
    'stroke-dasharray="2.2 1.7"/>',
    "RECREATED": '<path d="M1 1h10v10H1z" fill="none" stroke="currentColor" stroke-width="1.8"/>',
    REBALANCE: '<path d="M1 4h8M6.6 1.4 9.4 4 6.6 6.6M11 8.6H3M5.4 6 2.6 8.6l2.8 2.6" fill="none" '
    'stroke="currentColor" stroke-width="1.5"/>',
    RESET: '<path d="M3 2.6v3h3M3.2 5.4A4.2 4.2 0 1 1 2 8" fill="none" stroke="currentColor" stroke-width="1.6"/>',
    CRITICAL: _POLE + '<path d="M3 1 11.6 4.6 3 8.2z"/>',
    WARNING: _POLE + '<path d="M7.3 .6 11.4 4.6 7.3 8.6 3.2 4.6z"/>',
    INFO: _POLE + '<path d="M4 1.4h6.6v6H4z" fill="none" stroke="currentColor" stroke-width="1.5"/>',
    "OK": '<path d="m1 6.6 3.4 3.6L11 2.4" fill="none" stroke="currentColor" stroke-width="2"/>',
}


def state_shape(state: str) -> SafeString:
    """One shape for each state, so that a state is told apart without its colour; one for rebalances, one for resets,
    and a flag for incidents of each severity.
    """
    return mark_safe(f'<svg class="shape" viewBox="0 0 12 12" aria-hidden="true">{SHAPES[state]}</svg>')


def bar(name: str, width: int, height: int, label: str, body: str) -> SafeString:
    return format_html(
        '<svg class="{name}" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{label}">'
        "<title>{label}</title>{body}</svg>",
        name=name,
        w=width,
        h=height,
        label=label,
        body=mark_safe(body),
    )


# A time axis under a drawing, with round moments. Along it everything is in percent of the width, so that text keeps
# its size on every screen.
EDGE, FOOT = 1.0, 18


def percent(at: datetime, since: datetime, until: datetime) -> float:
    return EDGE + (100 - 2 * EDGE) * ((at - since) / (until - since))


def axis(since: datetime, until: datetime, foot: int) -> SafeString:
    return format_html(
        '<line class="axis" x2="100%" y1="{0}" y2="{0}"/>{1}',
        foot,
        format_html_join(
            "",
            '<line class="axis" x1="{0}%" x2="{0}%" y1="{1}" y2="{2}"/>'
            '<text x="{0}%" y="{3}" text-anchor="middle">{4}</text>',
            (
                (f"{percent(tick, since, until):.2f}", foot, foot + 4, foot + FOOT - 2, text)
                for tick, text in _ticks(since, until)
            ),
        ),
    )


def _ticks(since: datetime, until: datetime) -> list[tuple[datetime, str]]:
    """Round moments, at most eight of them; one whose label would be cut off at an edge is left out."""
    span = (until - since).total_seconds()
    steps = (60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 5184000)
    step = next((step for step in steps if span / step <= 8), steps[-1])
    ahead = timedelta(minutes=minutes_ahead(since))
    round_seconds = -(-(since + ahead).timestamp() // step) * step
    first = local(datetime.fromtimestamp(round_seconds, UTC) - ahead)
    ticks = [first + timedelta(seconds=step * i) for i in range(int((until - first).total_seconds() // step) + 1)]
    inside = [tick for tick in ticks if 0.04 < (tick - since) / (until - since) < 0.96]
    return [(tick, written(tick, _("j M")) if step >= 86400 else f"{tick:%H:%M}") for tick in inside]


WIDTH, HEIGHT, PAD = 96, 20, 2


def sparkline(values: Sequence[float | None], label: str, floor: float = 0) -> SafeString:
    """`values` at equal steps, oldest first; the line's foot is zero. `label` says in words what is drawn.

    Values that never rise above `floor` stay low: a lag of two must not look like one of two million.
    """
    known = [value for value in values if value is not None]
    top = max([floor, *known]) or 1
    step = (WIDTH - 2 * PAD) / max(1, len(values) - 1)

    def x(index: float) -> str:
        return f"{PAD + index * step:.1f}"

    def y(value: float) -> str:
        return f"{HEIGHT - PAD - (HEIGHT - 2 * PAD) * value / top:.1f}"

    parts = []
    for start, run in _runs(values):
        if run[0] is None:
            parts.append(_gap(start, len(run), len(values), step))
        elif len(run) == 1:
            parts.append(f'<circle cx="{x(start)}" cy="{y(run[0])}" r="1.2" fill="currentColor"/>')
        else:
            heights = [y(value) for value in run if value is not None]
            points = " ".join(f"{x(start + i)},{heights[i]}" for i in _turns(heights))
            parts.append(f'<polyline points="{points}"/>')
    return format_html(
        '<svg class="sparkline" width="{}" height="{}" role="img" aria-label="{}">{}</svg>',
        *(WIDTH, HEIGHT, label),
        mark_safe("".join(parts)),
    )


def _runs(values: Sequence[float | None]) -> Iterator[tuple[int, list[float | None]]]:
    """Stretches of neighbours that are all known or all unknown, with the index of their first."""
    for _unknown, pairs in groupby(enumerate(values), key=lambda pair: pair[1] is None):
        run = list(pairs)
        yield run[0][0], [value for _index, value in run]


def _turns(heights: Sequence[str]) -> list[int]:
    """Points without those that stand between two of the same height: a list of groups has a line in each row."""
    last = len(heights) - 1
    return [i for i, height in enumerate(heights) if i in (0, last) or not heights[i - 1] == height == heights[i + 1]]


def _gap(start: int, length: int, total: int, step: float) -> str:
    left = max(0.0, PAD + (start - 0.5) * step)
    right = min(float(WIDTH), PAD + (start + length - 0.5) * step) if total > 1 else float(WIDTH)
    # The pattern stands once in the frame of the page.
    return f'<rect x="{left:.1f}" width="{right - left:.1f}" height="{HEIGHT}" fill="url(#hatch)"/>'


# What changed, on the time axis of the page's range: one mark for each event, each a link that tells on hover.
LANE, TOP, LANES = 16, 8, 6

MARK_WIDTH = 1.6
# With a count beside it, on the left where the right has no room.
COUNTED_WIDTH, ROOM = 5.0, 90.0


@dataclass(frozen=True)
class Mark:
    """`cause`: in words; marks of one cause may be merged (merged_marks.py). `parts`: those that were; `anchor`: the id
    of their list."""

    at: datetime
    state: str
    text: str
    href: str
    cause: str = ""
    parts: tuple["Mark", ...] = ()
    anchor: str = ""


def change_strip(marks: Sequence[Mark], since: datetime, until: datetime, label: str) -> SafeString:
    """Marks outside [since, until] are left out; marks that would cover each other take the next lane."""
    placed, last = [], [float("-inf")] * LANES
    for mark in sorted((mark for mark in marks if since <= mark.at <= until), key=lambda mark: mark.at):
        x = percent(mark.at, since, until)
        begin, end = _width(mark, x)
        lane = next((lane for lane in range(LANES) if begin >= last[lane]), LANES - 1)
        last[lane] = end
        placed.append((mark, x, TOP + lane * LANE))
    foot = 2 * TOP + LANE * max((y - TOP) // LANE for _mark, _x, y in placed) if placed else 2 * TOP
    return format_html(
        '<svg class="strip" width="100%" height="{}" role="group" aria-label="{}">{}{}</svg>',
        *(foot + FOOT, label, axis(since, until, foot)),
        format_html_join(
            "",
            '<a href="{}" aria-label="{}" class="state-{}"><title>{}</title><svg x="{}%" y="{}" overflow="visible">'
            '<g transform="translate(-6 -6)"><path class="target" d="M-2-2h16v16H-2z"/>{}</g>{}</svg></a>',
            (
                (
                    *(mark.href, mark.text, mark.state.lower(), mark.text),
                    f"{x:.2f}",
                    y,
                    _drawn_change(mark.state),
                    _count(mark, x),
                )
                for mark, x, y in placed
            ),
        ),
    )


def _width(mark: Mark, x: float) -> tuple[float, float]:
    """Where the mark with its count begins and ends, in percent."""
    if not mark.parts:
        return x, x + MARK_WIDTH
    return (x, x + COUNTED_WIDTH) if x <= ROOM else (x - COUNTED_WIDTH + MARK_WIDTH, x + MARK_WIDTH)


def _count(mark: Mark, x: float) -> SafeString:
    if not mark.parts:
        return SafeString("")
    place = (9, "start") if x <= ROOM else (-9, "end")
    return format_html('<text class="count" x="{}" y="4" text-anchor="{}">×{}</text>', *place, len(mark.parts))


def _drawn_change(state: str) -> SafeString:
    return SafeString(SHAPES[state])
