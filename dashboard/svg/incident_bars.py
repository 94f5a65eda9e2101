"""When something would have fired: a line for each subject, a bar from the firing to the end of each incident."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from .time_axis import FOOT, axis, percent

LINE, LABEL, BAR, TOP = 30, 13, 10, 4
# The shortest is still seen, in percent of the width.
LEAST = 0.4


@dataclass(frozen=True)
class Bar:
    """Of the subject at `line`. `is_open`: it fires still at the end of the range."""

    line: int
    since: datetime
    until: datetime
    is_open: bool
    text: str


def incident_bars(
    titles: Sequence[str], bars: Sequence[Bar], since: datetime, until: datetime, label: str
) -> SafeString:
    """Bars are cut at the ends of [since, until]."""
    foot = TOP + LINE * len(titles) + TOP
    return format_html(
        '<svg class="strip incident-bars" width="100%" height="{}" role="img" aria-label="{}">{}{}{}</svg>',
        *(foot + FOOT, label, axis(since, until, foot)),
        format_html_join(
            "",
            '<text x="1%" y="{}">{}</text>',
            ((TOP + LINE * line + LABEL - 2, title) for line, title in enumerate(titles)),
        ),
        format_html_join(
            "",
            '<rect class="fired{}" x="{}%" y="{}" width="{}%" height="{}"><title>{}</title></rect>',
            (
                (" open" if bar.is_open else "", f"{x:.2f}", _top(bar), f"{wide:.2f}", BAR, bar.text)
                for bar, x, wide in ((bar, *_placed(bar, since, until)) for bar in bars)
            ),
        ),
    )


def _top(bar: Bar) -> int:
    return TOP + LINE * bar.line + LABEL + 2


def _placed(bar: Bar, since: datetime, until: datetime) -> tuple[float, float]:
    """Where it begins, and how wide it is."""
    left, right = (percent(min(max(at, since), until), since, until) for at in (bar.since, bar.until))
    return left, max(LEAST, right - left)
