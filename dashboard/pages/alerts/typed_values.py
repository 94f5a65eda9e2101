"""Values of a rule as people type them: numbers, each in its measure's unit, and overrides."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from consumers.alerts.measured import Unit
from consumers.alerts.measures.registry import SPECS
from consumers.models import Measure
from consumers.words.spans import decimal, percent
from dashboard.pages.common.moments import SECONDS, seconds_of, unit_words

# Numbers as people type them, each in its measure's unit: 90 s, 30 min, 2 h; 10 %; 1,000.

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
    unit = SPECS[measure].unit
    if unit == Unit.SECONDS:
        return length_of(text)
    match = NUMBER.fullmatch(text.strip().replace(",", ""))
    if match is None or (match[2] and unit != Unit.SHARE):
        raise WrongNumber(_("Write a share as 10 % or 0.1.") if unit == Unit.SHARE else _("Write a number, as 1,000."))
    return float(match[1]) / 100 if match[2] else float(match[1])


def typed_length(seconds: float, *, in_codes: bool = False) -> str:
    """In the widest unit that has it whole; `in_codes`: 5 min in every language."""
    widest = sorted(((one, unit) for unit, one in SECONDS.items() if unit), reverse=True)
    one, unit = next(((one, unit) for one, unit in widest if seconds and seconds % one == 0), (1, "s"))
    return f"{_plain(seconds / one)} {unit if in_codes else unit_words(unit)}"


def typed_number(number: float | None, measure: Measure, *, in_codes: bool = False) -> str:
    if number is None:
        return ""
    unit = SPECS[measure].unit
    if unit == Unit.SECONDS:
        return typed_length(number, in_codes=in_codes)
    return percent(number * 100) if unit == Unit.SHARE else _plain(number)


def _plain(number: float) -> str:
    return decimal(number, 6)


# Overrides as people type them: `audit* on prod: threshold=10 min, for=5 min`, one on each line.

ON = " on "
WORDS = {"threshold": "threshold", "clear": "clear_threshold", "for": "for_seconds", "severity": "severity"}
SWITCH = {"on": True, "off": False}
NONE = "none"


class WrongOverride(ValueError):
    """str() is one sentence for the reader."""


def overrides_of(text: str, measure: Measure) -> list[dict[str, Any]]:
    """In their order, of which the first that names a group counts."""
    return [_override(line.strip(), measure) for line in text.splitlines() if line.strip()]


def lines_of_overrides(overrides: Sequence[Mapping[str, Any]], measure: Measure) -> str:
    return "\n".join(_line(one, measure) for one in overrides)


def _override(line: str, measure: Measure) -> dict[str, Any]:
    # A word before the colon names groups; a colon later on may belong to nothing.
    where, colon, rest = line.partition(":")
    if not colon or not where.strip() or not rest.strip():
        raise WrongOverride(
            _("“%s” is not an override: write audit* on prod: threshold=10 min, for=5 min; or audit*: off.") % line
        )
    group, _on, cluster = f" {where.strip()} ".partition(ON)
    found: dict[str, Any] = {"group_pattern": group.strip(), "cluster": cluster.strip()}
    for part in filter(None, (part.strip() for part in rest.split(","))):
        if part in SWITCH:
            found["enabled"] = SWITCH[part]
            continue
        word, _equals, value = (piece.strip() for piece in part.partition("="))
        if word not in WORDS or not value:
            known = ", ".join(f"{name}=…" for name in WORDS)
            raise WrongOverride(_("“%(part)s” sets nothing: write %(known)s or off.") % {"part": part, "known": known})
        found[WORDS[word]] = _read(word, value, measure)
    return {name: value for name, value in found.items() if value != ""}


def _read(word: str, value: str, measure: Measure) -> Any:
    readers: dict[str, Callable[[], Any]] = {
        "threshold": lambda: number_of(value, measure),
        "clear": lambda: None if value == NONE else number_of(value, measure),
        "for": lambda: length_of(value),
        "severity": lambda: value,
    }
    return readers[word]()


def _line(one: Mapping[str, Any], measure: Measure) -> str:
    where = " ".join(filter(None, [one.get("group_pattern", ""), f"on {one['cluster']}" if one.get("cluster") else ""]))
    parts = [word for word, is_on in SWITCH.items() if one.get("enabled") is is_on]
    for word, name in WORDS.items():
        if name in one:
            parts.append(f"{word}={_typed(name, one[name], measure)}")
    return f"{where}: {', '.join(parts)}"


def _typed(name: str, value: Any, measure: Measure) -> str:
    if value is None:
        return NONE
    if name == "for_seconds":
        return typed_length(value, in_codes=True)
    return str(value) if name == "severity" else typed_number(value, measure, in_codes=True).replace(",", "")
