"""When something would have fired: a line for each subject, a bar from the firing to the end of each incident. What is
not known is hatched, and what was found by evaluations lies below.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from .time_axis import FOOT, axis, percent

LINE, LABEL, BAR, BELOW, TOP = 34, 13, 10, 3, 4
# The shortest is still seen, in percent of the width.
LEAST = 0.4


@dataclass(frozen=True)
class Bar:
    """Of the subject at `line`. `kind`: fired; open, it fires still at the end of the range; apart, it is drawn hollow;
    evaluated, it lies below the others.
    """

    line: int
    since: datetime
    until: datetime
    kind: str
    text: str


@dataclass(frozen=True)
class Gap:
    """Nothing is known of the subject at `line`; null: of any."""

    line: int | None
    since: datetime
    until: datetime
    text: str


def incident_bars(
    titles: Sequence[str], bars: Sequence[Bar], gaps: Sequence[Gap], since: datetime, until: datetime, label: str
) -> SafeString:
    """Bars and gaps are cut at the ends of [since, until]. Without subjects there is one line, of gaps of all."""
    high = LINE * len(titles) if titles else BAR
    foot = TOP + high + TOP
    return format_html(
        '<svg class="strip incident-bars" width="100%" height="{}" role="img" aria-label="{}">{}{}{}{}{}</svg>',
        *(foot + FOOT, label, axis(since, until, foot)),
        _hatched([gap for gap in gaps if gap.line is None], since, until, high),
        format_html_join(
            "",
            '<text x="1%" y="{}">{}</text>',
            ((TOP + LINE * line + LABEL - 2, title) for line, title in enumerate(titles)),
        ),
        _hatched([gap for gap in gaps if gap.line is not None], since, until, high),
        format_html_join(
            "",
            '<rect class="{}" x="{}%" y="{}" width="{}%" height="{}"><title>{}</title></rect>',
            (
                (bar.kind, f"{x:.2f}", *_across(bar, wide), bar.text)
                for bar, x, wide in ((bar, *_placed(bar.since, bar.until, since, until)) for bar in bars)
            ),
        ),
    )


def _hatched(gaps: Sequence[Gap], since: datetime, until: datetime, high: int) -> SafeString:
    """Those of all subjects go across all lines."""
    return format_html_join(
        "",
        '<rect x="{}%" y="{}" width="{}%" height="{}" fill="url(#hatch)"><title>{}</title></rect>',
        (
            (f"{x:.2f}", TOP, f"{wide:.2f}", high, gap.text)
            if gap.line is None
            else (f"{x:.2f}", _top(gap.line), f"{wide:.2f}", BAR, gap.text)
            for gap, x, wide in ((gap, *_placed(gap.since, gap.until, since, until)) for gap in gaps)
        ),
    )


def _across(bar: Bar, wide: float) -> tuple[int, str, int]:
    """Top, width and height."""
    if bar.kind == "evaluated":
        return _top(bar.line) + BAR + 1, f"{wide:.2f}", BELOW
    return _top(bar.line), f"{wide:.2f}", BAR


def _top(line: int) -> int:
    return TOP + LINE * line + LABEL + 2


def _placed(begin: datetime, end: datetime, since: datetime, until: datetime) -> tuple[float, float]:
    """Where it begins, and how wide it is."""
    left, right = (percent(min(max(at, since), until), since, until) for at in (begin, end))
    return left, max(LEAST, right - left)
