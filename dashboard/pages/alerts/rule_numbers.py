"""Numbers of rules as people type them, each in its measure's unit: 90 s, 30 min, 2 h; 10 %; 1,000."""

import re

from django.utils.translation import gettext as _

from consumers.alerts.rules.facts import FACTS, Unit
from consumers.models import Measure
from dashboard.pages.common.durations import SECONDS, seconds_of

# Short digits only, as in lengths of time.
NUMBER = re.compile(r"([0-9]{1,16}(?:\.[0-9]{1,6})?)\s*(%?)", re.ASCII)


class WrongNumber(ValueError):
    """str() is one sentence for the reader."""


def length_of(text: str) -> float:
    """In seconds. Nothing typed is none."""
    seconds = seconds_of(text.replace(",", "")) if text.strip() else 0.0
    if seconds is None:
        raise WrongNumber(_("Write a length of time as 90 s, 30 min, 2 h or 1 d."))
    return seconds


def number_of(text: str, measure: Measure) -> float | None:
    """None where nothing is typed."""
    if not text.strip():
        return None
    unit = FACTS[measure].unit
    if unit == Unit.SECONDS:
        return length_of(text)
    match = NUMBER.fullmatch(text.strip().replace(",", ""))
    if match is None or (match[2] and unit != Unit.SHARE):
        raise WrongNumber(_("Write a share as 10 % or 0.1.") if unit == Unit.SHARE else _("Write a number, as 1,000."))
    return float(match[1]) / 100 if match[2] else float(match[1])


def typed_length(seconds: float) -> str:
    """In the widest unit that has it whole."""
    widest = sorted(((one, unit) for unit, one in SECONDS.items() if unit), reverse=True)
    one, unit = next(((one, unit) for one, unit in widest if seconds and seconds % one == 0), (1, "s"))
    return f"{_plain(seconds / one)} {unit}"


def typed_number(number: float | None, measure: Measure) -> str:
    if number is None:
        return ""
    unit = FACTS[measure].unit
    if unit == Unit.SECONDS:
        return typed_length(number)
    return f"{_plain(number * 100)} %" if unit == Unit.SHARE else _plain(number)


def _plain(number: float) -> str:
    """Thousands separated, never with an exponent."""
    return f"{number:,.6f}".rstrip("0").rstrip(".")
