"""How often something was, day by day: a bar for each day of a range, on the same axis as drawings of that range below
it. What is not known of a day is hatched.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from .time_axis import percent

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
    said, last = [], -NAME_WIDE
    for column in columns:
        if column.middle - last >= NAME_WIDE and NAME_WIDE / 2 <= column.middle <= 100 - NAME_WIDE / 2:
            said.append((f"{column.middle:.2f}", y, f"{column.bar.day:%a} {column.bar.day.day}"))
            last = column.middle
    return format_html_join("", '<text x="{}%" y="{}" text-anchor="middle">{}</text>', said)
