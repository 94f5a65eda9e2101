"""What changed, on the time axis of the page's range: one mark for each event, each a link that tells on hover."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from .shapes import SHAPES

LANE, TOP, FOOT, LANES = 16, 8, 18, 3
# Along the axis everything is in percent of the width, so that text keeps its size on every screen.
EDGE, MARK_WIDTH = 1.0, 1.6


@dataclass(frozen=True)
class Mark:
    at: datetime
    state: str
    text: str
    href: str


def change_strip(marks: Sequence[Mark], since: datetime, until: datetime, label: str) -> SafeString:
    """Marks outside [since, until] are left out; marks that would cover each other take the next lane."""
    placed, last = [], [float("-inf")] * LANES
    for mark in sorted((mark for mark in marks if since <= mark.at <= until), key=lambda mark: mark.at):
        x = _percent(mark.at, since, until)
        lane = next((lane for lane in range(LANES) if x - last[lane] >= MARK_WIDTH), LANES - 1)
        last[lane] = x
        placed.append((mark, x, TOP + lane * LANE))
    foot = 2 * TOP + LANE * max((y - TOP) // LANE for _mark, _x, y in placed) if placed else 2 * TOP
    return format_html(
        '<svg class="strip" width="100%" height="{}" role="group" aria-label="{}">{}{}</svg>',
        *(foot + FOOT, label, _axis(since, until, foot)),
        format_html_join(
            "",
            '<a href="{}" aria-label="{}" class="state-{}"><title>{}</title><svg x="{}%" y="{}" overflow="visible">'
            '<g transform="translate(-6 -6)"><path class="target" d="M-2-2h16v16H-2z"/>{}</g></svg></a>',
            (
                (mark.href, mark.text, mark.state.lower(), mark.text, f"{x:.2f}", y, _drawn(mark.state))
                for mark, x, y in placed
            ),
        ),
    )


def _percent(at: datetime, since: datetime, until: datetime) -> float:
    return EDGE + (100 - 2 * EDGE) * ((at - since) / (until - since))


def _drawn(state: str) -> SafeString:
    return SafeString(SHAPES[state])


def _axis(since: datetime, until: datetime, foot: int) -> SafeString:
    return format_html(
        '<line class="axis" x2="100%" y1="{0}" y2="{0}"/>{1}',
        foot,
        format_html_join(
            "",
            '<line class="axis" x1="{0}%" x2="{0}%" y1="{1}" y2="{2}"/>'
            '<text x="{0}%" y="{3}" text-anchor="middle">{4}</text>',
            (
                (f"{_percent(tick, since, until):.2f}", foot, foot + 4, foot + FOOT - 2, text)
                for tick, text in _ticks(since, until)
            ),
        ),
    )


def _ticks(since: datetime, until: datetime) -> list[tuple[datetime, str]]:
    """Round moments, at most eight of them; one whose label would be cut off at an edge is left out."""
    span = (until - since).total_seconds()
    steps = (60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800)
    step = next((step for step in steps if span / step <= 8), steps[-1])
    first = datetime.fromtimestamp(-(-since.timestamp() // step) * step, UTC)
    ticks = [first + timedelta(seconds=step * i) for i in range(int((until - first).total_seconds() // step) + 1)]
    inside = [tick for tick in ticks if 0.04 < (tick - since) / (until - since) < 0.96]
    return [(tick, f"{tick.day} {tick:%b}" if step >= 86400 else f"{tick:%H:%M}") for tick in inside]
