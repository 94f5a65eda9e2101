"""Moments as people read them: relative in the text, absolute on hover, in UTC and saying so."""

from datetime import UTC, datetime

from django.utils.dateformat import format as written
from django.utils.translation import gettext as _

from .numbers import duration


def ago(at: datetime, now: datetime) -> str:
    """How long before `now`; a clock that runs a little ahead reads as "0 s ago", never as the future."""
    return _("%(age)s ago") % {"age": duration(max(0, int((now - at).total_seconds())))}


def clock(at: datetime, now: datetime) -> str:
    """The time of day, with the date where it is not today's."""
    utc = at.astimezone(UTC)
    return f"{utc:%H:%M:%S}" if utc.date() == now.astimezone(UTC).date() else f"{_day(utc)} {utc:%H:%M:%S}"


def minute(at: datetime, now: datetime) -> str:
    """The time of day without seconds, with the date where it is not today's."""
    utc = at.astimezone(UTC)
    return f"{utc:%H:%M}" if utc.date() == now.astimezone(UTC).date() else f"{_day(utc)} {utc:%H:%M}"


def absolute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _day(at: datetime) -> str:
    """`22 Nov`. The format is Django's, and each language has its own."""
    return written(at, _("j M"))
