"""The overrides of a rule, item by item: whom each names, and what counts for them instead."""

from collections.abc import Mapping
from typing import Any

from . import fields
from .refused import Check, WrongValue, checked_fields

MOST = 500
CHECKS: dict[str, Check] = {
    "cluster": fields.pattern(100),
    "group_pattern": fields.pattern(255),
    "enabled": fields.truth,
    "threshold": fields.number,
    "clear_threshold": fields.number_or_null,
    "for_seconds": fields.seconds,
    "severity": fields.severity,
}
WHOM = ("cluster", "group_pattern")


def overrides(value: Any) -> list[dict[str, Any]]:
    """As they are to be kept; how thresholds fit the rule's own is for spec.py."""
    if not isinstance(value, list | tuple) or len(value) > MOST:
        raise WrongValue(f"It is a list of at most {MOST} overrides.")
    return [_override(place, one) for place, one in enumerate(value, start=1)]


def _override(place: int, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise WrongValue(f"Override {place} is an object with any of {', '.join(CHECKS)}.")
    found, errors = checked_fields(value, CHECKS)
    if errors:
        name, sentence = next(iter(errors.items()))
        raise WrongValue(f"Of override {place}, {name}: {sentence}")
    if not any(found.get(name) for name in WHOM):
        raise WrongValue(f"Override {place} must name a cluster, a group_pattern or both.")
    if not found.keys() - set(WHOM):
        raise WrongValue(f"Override {place} changes nothing: give it any of {', '.join(list(CHECKS)[2:])}.")
    return found
