"""A time axis under a drawing, with round moments. Along it everything is in percent of the width, so that text keeps
its size on every screen.
"""

from datetime import UTC, datetime, timedelta

from django.utils.dateformat import format as written
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

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
    first = datetime.fromtimestamp(-(-since.timestamp() // step) * step, UTC)
    ticks = [first + timedelta(seconds=step * i) for i in range(int((until - first).total_seconds() // step) + 1)]
    inside = [tick for tick in ticks if 0.04 < (tick - since) / (until - since) < 0.96]
    return [(tick, written(tick, _("j M")) if step >= 86400 else f"{tick:%H:%M}") for tick in inside]
