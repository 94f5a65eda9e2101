"""Times on pages: as the browser's clock says them, or in UTC for who chose that. Both are cookies, so that the server
renders the right ones at once; static/js/zone.js tells how far the browser's clock is from UTC.

A page has one such distance, that of the time when it was asked for, also for times before a change to summer time: so
a chart has one scale, and each time is the one that the page names.
"""

import re
from collections.abc import Callable
from datetime import UTC, timedelta, timezone, tzinfo
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone as current
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from consumers.words.spans import minutes_ahead, zone_name
from consumers.words.times import example_time

from .problems import is_of_the_api
from .theme import chosen_in_cookie

LOCAL, IN_UTC = "local", "utc"
CHOICES = {LOCAL: _("local"), IN_UTC: "UTC"}
MINUTES = re.compile(r"-?[0-9]{1,3}")
FARTHEST_MINUTES = 14 * 60


def choice_of(request: HttpRequest) -> str:
    chosen = request.COOKIES.get("times", LOCAL)
    return chosen if chosen in CHOICES else LOCAL


def zone_of(request: HttpRequest) -> tzinfo:
    """UTC, too, for a browser that has not told its distance yet, and for all that machines read."""
    minutes = request.COOKIES.get("utc_offset", "")
    if is_of_the_api(request) or choice_of(request) == IN_UTC or not MINUTES.fullmatch(minutes):
        return UTC
    return timezone(timedelta(minutes=int(minutes))) if abs(int(minutes)) <= FARTHEST_MINUTES else UTC


class ZoneOfReader:
    """What a stream writes after it is of UTC."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with current.override(zone_of(request)):
            return self._get_response(request)


def zone_words(request: HttpRequest) -> dict[str, Any]:
    """Context of every template: `zone`, as `UTC+02:00`, and the same in minutes."""
    choice = choice_of(request)
    return {
        "zone": zone_name(),
        "utc_offset": minutes_ahead(current.now()),
        "time_example": example_time(),
        "times": choice,
        "time_choices": [{"name": name, "label": label} for name, label in CHOICES.items()],
    }


@require_POST
def times(request: HttpRequest) -> HttpResponse:
    return chosen_in_cookie(request, "times", CHOICES)
