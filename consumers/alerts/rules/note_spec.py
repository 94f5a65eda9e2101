"""What a note of groups may say."""

from collections.abc import Mapping
from typing import Any

from consumers.models import GroupNote

from . import fields as check
from .refused import Check, RuleRefused, WrongValue, checked_fields

LAST_POSITION = 100_000


def _position(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LAST_POSITION:
        raise WrongValue(f"It is a whole number from 0 to {LAST_POSITION}; the lowest counts first.")
    return value


CHECKS: dict[str, Check] = {
    "position": _position,
    "cluster": check.pattern(100),
    "group_pattern": check.pattern(255, required=True),
    "owner": check.text(200),
    "runbook_url": check.web_address,
    "note": check.lines,
    "labels": check.labels,
}
_ABSENT: dict[str, Any] = {"position": 0, "cluster": "", "owner": "", "runbook_url": "", "note": "", "labels": {}}
SAID = ("owner", "runbook_url", "note", "labels")


def checked_note(fields: Mapping[str, Any], note: GroupNote | None = None) -> dict[str, Any]:
    """All fields of a note that people write, as they are to be kept. Raises RuleRefused.

    What `fields`, in JSON's types, leaves out is as in `note`, or empty.
    """
    before = _ABSENT if note is None else {name: getattr(note, name) for name in CHECKS}
    values, errors = checked_fields(before | dict(fields), CHECKS)
    if "group_pattern" not in values and "group_pattern" not in errors:
        errors["group_pattern"] = "It must be given: * is every group."
    if not errors and not any(values[name] for name in SAID):
        errors["owner"] = "A note says something: an owner, a runbook, a note or labels."
    if errors:
        raise RuleRefused(errors)
    return values
