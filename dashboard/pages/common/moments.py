"""A past moment that a page shows: a link says it, so that a pasted address shows the same thing."""

from datetime import UTC, datetime

from django.http import HttpRequest
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from dashboard.pages.site.problems import UnknownFilter


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
