"""What changed, on the time axis of the page's range: one mark for each event, each a link that tells on hover."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from .shapes import SHAPES
from .time_axis import FOOT, axis, percent

LANE, TOP, LANES = 16, 8, 3
MARK_WIDTH = 1.6


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
        x = percent(mark.at, since, until)
        lane = next((lane for lane in range(LANES) if x - last[lane] >= MARK_WIDTH), LANES - 1)
        last[lane] = x
        placed.append((mark, x, TOP + lane * LANE))
    foot = 2 * TOP + LANE * max((y - TOP) // LANE for _mark, _x, y in placed) if placed else 2 * TOP
    return format_html(
        '<svg class="strip" width="100%" height="{}" role="group" aria-label="{}">{}{}</svg>',
        *(foot + FOOT, label, axis(since, until, foot)),
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


def _drawn(state: str) -> SafeString:
    return SafeString(SHAPES[state])
