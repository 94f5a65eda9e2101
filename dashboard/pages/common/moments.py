"""A past moment that a page shows: a link says it, so that a pasted address shows the same thing."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy, pgettext

from consumers.words.spans import local
from consumers.words.times import read_time
from dashboard.pages.site.problems import UnknownFilter

SECONDS = {"": 1, "s": 1, "min": 60, "h": 3600, "d": 86400}
# Short digits only: int() and float() take those of every script, and any number of them.
TYPED = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*(\w*)")


def unit_words(unit: str) -> str:
    """As the reader's language writes one of SECONDS behind a number."""
    words = {
        "s": pgettext("behind a number", "s"),
        "min": pgettext("behind a number", "min"),
        "h": pgettext("behind a number", "h"),
        "d": pgettext("behind a number", "d"),
    }
    return words[unit]


def seconds_of(text: str) -> float | None:
    """Null where it is no length of time. Its unit is a code or the word of the reader's language."""
    match = TYPED.fullmatch(text.strip())
    if match is None:
        return None
    units = SECONDS | {unit_words(unit): seconds for unit, seconds in SECONDS.items() if unit}
    return None if match[2] not in units else float(match[1]) * units[match[2]]


def moment_of(request: HttpRequest, now: datetime) -> datetime | None:
    """`at` of the address, in UTC where it names no zone; null where the newest is asked for."""
    text = request.GET.get("at", "")
    if not text:
        return None
    # A plus sign that was not encoded arrives as a space.
    at = read_time(text.replace(" ", "+", 1) if text.count(" ") == 1 and "T" in text else text)
    if at is None or at > now:
        raise UnknownFilter("at", text, [_("a past time, for example 2026-03-14T02:14:24Z")])
    return at


# The time range of a page, which a link says, too.

RANGES = {
    "15m": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "90d": timedelta(days=90),
    "1y": timedelta(days=365),
}
LABELS: dict[str, str | Promise] = {
    "15m": gettext_lazy("15 min"),
    "1h": gettext_lazy("1 h"),
    "6h": gettext_lazy("6 h"),
    "24h": gettext_lazy("24 h"),
    "7d": gettext_lazy("7 d"),
    "30d": gettext_lazy("30 d"),
    "90d": gettext_lazy("90 d"),
    "1y": gettext_lazy("1 y"),
}
DEFAULT = "1h"
# Between the two times of a range of one's own. A chart of less than a minute has no window.
TO, SHORTEST, LONGEST = "..", timedelta(minutes=1), timedelta(days=5 * 366)
# A chart of a group that was just seen for the first time is not narrower.
FIRST_MINUTES = timedelta(minutes=5)


@dataclass(frozen=True)
class Range:
    """`name`: one of RANGES, or two times as `2026-03-14T02:00:00Z..2026-03-14T02:15:00Z`. `collected_since`: a chart
    begins there, later than its range, as there was nothing to read before."""

    name: str
    since: datetime
    until: datetime
    collected_since: datetime | None = None

    @property
    def is_own(self) -> bool:
        """Two times; what happened after the second is not of this range."""
        return self.name not in RANGES

    @property
    def label(self) -> str:
        return f"{_short(self.since)} – {_short(self.until, self.since)}" if self.is_own else str(LABELS[self.name])

    @property
    def words(self) -> str:
        """To go on a heading: in the last 1 h."""
        if self.is_own:
            return _("from %(since)s to %(until)s") % {
                "since": _short(self.since),
                "until": _short(self.until, self.since),
            }
        return _("in the last %(range)s") % {"range": self.label}

    def collected_from(self, first: datetime) -> "Range":
        """Of a group that was first read at `first`."""
        begin = min(first, self.until - FIRST_MINUTES)
        return self if begin <= self.since else replace(self, since=begin, collected_since=first)

    def moved(self, parts: float, now: datetime) -> "Range":
        """Later by so many of its lengths, and no further than now."""
        length = self.until - self.since
        until = min(self.until + parts * length, now)
        return own_range(until - length, until)

    def wider(self, now: datetime) -> "Range":
        """Twice as long, around the same middle, and no further than now."""
        half = (self.until - self.since) / 2
        until = min(self.until + half, now)
        return own_range(max(until - 4 * half, now - LONGEST), until)


def own_range(since: datetime, until: datetime) -> Range:
    """With whole seconds, so that its name says it exactly."""
    since, until = (at.astimezone(UTC).replace(microsecond=0) for at in (since, until))
    return Range(f"{_named(since)}{TO}{_named(until)}", since, until)


def range_of(request: HttpRequest, now: datetime) -> Range:
    name = request.GET.get("range", DEFAULT)
    if name in RANGES:
        return Range(name, now - RANGES[name], now)
    first, separator, last = name.partition(TO)
    since, until = (read_time(first), read_time(last)) if separator else (None, None)
    if since is None or until is None or not SHORTEST <= until - since <= LONGEST or since >= now:
        own = _("two times at least 1 min apart, for example 2026-03-14T02:00:00Z..2026-03-14T02:15:00Z")
        raise UnknownFilter("range", name, [*RANGES, own])
    return own_range(since, min(until, now))


def _named(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}Z"


def _short(at: datetime, compared_with: datetime | None = None) -> str:
    """Without the day of the one beside it; seconds where there are some."""
    at = local(at)
    time = f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"
    return time if compared_with is not None and local(compared_with).date() == at.date() else f"{at:%Y-%m-%d} {time}"
