"""How often, and when, a rule would have fired: bars by day, and by incident."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.utils.dateformat import format as written
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from .time_bars import FOOT, axis, percent

# How often something was, day by day: a bar for each day of a range, on the same axis as drawings of that range below
# it. What is not known of a day is hatched.
HIGHEST, NUMBER, NAME, GAP = 64, 14, 16, 0.3

# A name takes about so much of the width on a small screen, in percent.
NAME_WIDE = 11.0

LEAST_HIGH = 3.0


@dataclass(frozen=True)
class DayBar:
    """`apart` of `count` are drawn hollow. `unknown_share`, 0 to 1, is hatched; null: there was nothing to know."""

    day: date
    count: int
    apart: int
    unknown_share: float | None
    text: str


@dataclass(frozen=True)
class _Column:
    bar: DayBar
    left: float
    wide: float

    @property
    def middle(self) -> float:
        return self.left + self.wide / 2


def day_bars(bars: Sequence[DayBar], since: datetime, until: datetime, label: str) -> SafeString:
    """`bars` in order of days, of all that have a moment in [since, until]; days are those of UTC."""
    columns = [column for bar in bars if (column := _column(bar, since, until)).wide > 0]
    most = max((bar.count for bar in bars), default=0)
    foot = NUMBER + HIGHEST
    return format_html(
        '<svg class="strip day-bars" width="100%" height="{}" role="img" aria-label="{}">{}'
        '<line class="axis" x2="100%" y1="{}" y2="{}"/>{}</svg>',
        *(foot + NAME, label),
        format_html_join("", "<g><title>{}</title>{}</g>", ((one.bar.text, _drawn(one, most)) for one in columns)),
        *(foot, foot, _names(columns, foot + NAME - 3)),
    )


def _column(bar: DayBar, since: datetime, until: datetime) -> _Column:
    begin = datetime.combine(bar.day, time(), UTC)
    left, right = (percent(at, since, until) for at in (max(begin, since), min(begin + timedelta(days=1), until)))
    return _Column(bar, left + GAP / 2, right - left - GAP)


def _drawn(column: _Column, most: int) -> SafeString:
    bar, foot = column.bar, NUMBER + HIGHEST
    high = _high(bar.count, most)
    hollow = high * bar.apart / bar.count if bar.count else 0.0
    parts = [
        # All of the column, so that it tells wherever it is touched.
        _rect(column, "target", 0, foot),
        _hatched(column, HIGHEST * (bar.unknown_share or 0.0)),
        _rect(column, "fired", foot - high, high - hollow),
        _rect(column, "fired apart", foot - hollow, hollow),
    ]
    number = format_html(
        '<text class="count" x="{}%" y="{}" text-anchor="middle">{}</text>',
        *(f"{column.middle:.2f}", f"{foot - high - 3:.1f}", bar.count),
    )
    return format_html("{}{}", SafeString("".join(parts)), number if bar.count else "")


def _high(count: int, most: int) -> float:
    return max(LEAST_HIGH, HIGHEST * count / most) if count else 0.0


def _rect(column: _Column, kind: str, top: float, high: float) -> SafeString:
    if high <= 0:
        return SafeString("")
    place = f"{column.left:.2f}", f"{column.wide:.2f}", f"{top:.1f}", f"{high:.1f}"
    return format_html('<rect class="{}" x="{}%" width="{}%" y="{}" height="{}"/>', kind, *place)


def _hatched(column: _Column, high: float) -> SafeString:
    if high <= 0:
        return SafeString("")
    place = f"{column.left:.2f}", f"{column.wide:.2f}", f"{NUMBER + HIGHEST - high:.1f}", f"{high:.1f}"
    return format_html('<rect x="{}%" width="{}%" y="{}" height="{}" fill="url(#hatch)"/>', *place)


def _names(columns: Sequence[_Column], y: float) -> SafeString:
    """Of so many days as have room beside each other."""
    shown, last = [], -NAME_WIDE
    for column in columns:
        if column.middle - last >= NAME_WIDE and NAME_WIDE / 2 <= column.middle <= 100 - NAME_WIDE / 2:
            shown.append((f"{column.middle:.2f}", y, written(column.bar.day, _("D j"))))
            last = column.middle
    return format_html_join("", '<text x="{}%" y="{}" text-anchor="middle">{}</text>', shown)


# When something would have fired: a line for each subject, a bar from the firing to the end of each incident. What is
# not known is hatched, and what was found by evaluations lies below.
LINE, LABEL, BAR, BELOW, INCIDENTS_TOP = 34, 13, 10, 3, 4

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
    foot = INCIDENTS_TOP + high + INCIDENTS_TOP
    return format_html(
        '<svg class="strip incident-bars" width="100%" height="{}" role="img" aria-label="{}">{}{}{}{}{}</svg>',
        *(foot + FOOT, label, axis(since, until, foot)),
        _hatched_incident([gap for gap in gaps if gap.line is None], since, until, high),
        format_html_join(
            "",
            '<text x="1%" y="{}">{}</text>',
            ((INCIDENTS_TOP + LINE * line + LABEL - 2, title) for line, title in enumerate(titles)),
        ),
        _hatched_incident([gap for gap in gaps if gap.line is not None], since, until, high),
        format_html_join(
            "",
            '<rect class="{}" x="{}%" y="{}" width="{}%" height="{}"><title>{}</title></rect>',
            (
                (bar.kind, f"{x:.2f}", *_across(bar, wide), bar.text)
                for bar, x, wide in ((bar, *_placed(bar.since, bar.until, since, until)) for bar in bars)
            ),
        ),
    )


def _hatched_incident(gaps: Sequence[Gap], since: datetime, until: datetime, high: int) -> SafeString:
    """Those of all subjects go across all lines."""
    return format_html_join(
        "",
        '<rect x="{}%" y="{}" width="{}%" height="{}" fill="url(#hatch)"><title>{}</title></rect>',
        (
            (f"{x:.2f}", INCIDENTS_TOP, f"{wide:.2f}", high, gap.text)
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
    return INCIDENTS_TOP + LINE * line + LABEL + 2


def _placed(begin: datetime, end: datetime, since: datetime, until: datetime) -> tuple[float, float]:
    """Where it begins, and how wide it is."""
    left, right = (percent(min(max(at, since), until), since, until) for at in (begin, end))
    return left, max(LEAST, right - left)
