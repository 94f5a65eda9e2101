"""The time range of a page: a link says it, so that a pasted address shows the same thing."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dashboard.pages.site.problems import UnknownFilter

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
    "15m": _("15 min"),
    "1h": _("1 h"),
    "6h": _("6 h"),
    "24h": _("24 h"),
    "7d": _("7 d"),
    "30d": _("30 d"),
    "90d": _("90 d"),
    "1y": _("1 y"),
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
