"""A past moment that a page shows: a link says it, so that a pasted address shows the same thing."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.http import HttpRequest
from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from dashboard.pages.site.problems import UnknownFilter

SECONDS = {"": 1, "s": 1, "min": 60, "h": 3600, "d": 86400}
# Short digits only: int() and float() take those of every script, and any number of them.
TYPED = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*(s|min|h|d|)", re.ASCII)


def seconds_of(text: str) -> float | None:
    """Null where it is no length of time."""
    match = TYPED.fullmatch(text.strip())
    return None if match is None else float(match[1]) * SECONDS[match[2]]


def moment_of(request: HttpRequest, now: datetime) -> datetime | None:
    """`at` of the address, in UTC where it names no zone; null where the newest is asked for."""
    text = request.GET.get("at", "")
    if not text:
        return None
    # A plus sign that was not encoded arrives as a space.
    at = read_moment(text.replace(" ", "+", 1) if text.count(" ") == 1 and "T" in text else text)
    if at is None or at > now:
        raise UnknownFilter("at", text, [_("a past time, for example 2026-03-14T02:14:24Z")])
    return at


def read_moment(text: str) -> datetime | None:
    """In UTC where it names no zone; null where it is no time."""
    try:
        at = parse_datetime(text)
    except ValueError:
        return None
    if at is None:
        return None
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


# The time range of a page: a link says it, so that a pasted address shows the same thing.

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


@dataclass(frozen=True)
class Range:
    name: str
    since: datetime
    until: datetime

    @property
    def label(self) -> str:
        return str(LABELS[self.name])


def range_of(request: HttpRequest, now: datetime) -> Range:
    name = request.GET.get("range", DEFAULT)
    if name not in RANGES:
        raise UnknownFilter("range", name, RANGES)
    return Range(name, now - RANGES[name], now)
