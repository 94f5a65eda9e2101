"""Overrides of a rule as people type them: `audit* on prod: threshold=10 min, for=5 min`, one on each line."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from consumers.models import Measure

from .rule_numbers import length_of, number_of, typed_length, typed_number

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
            _("“%s” is no override: write audit* on prod: threshold=10 min, for=5 min; or audit*: off.") % line
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
            raise WrongOverride(_("“%(part)s” says nothing: write %(known)s or off.") % {"part": part, "known": known})
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
    said = [word for word, is_on in SWITCH.items() if one.get("enabled") is is_on]
    for word, name in WORDS.items():
        if name in one:
            said.append(f"{word}={_typed(name, one[name], measure)}")
    return f"{where}: {', '.join(said)}"


def _typed(name: str, value: Any, measure: Measure) -> str:
    if value is None:
        return NONE
    if name == "for_seconds":
        return typed_length(value)
    return str(value) if name == "severity" else typed_number(value, measure).replace(",", "")
