"""Why what somebody wrote cannot be kept."""

from collections.abc import Callable, Mapping
from typing import Any


class RuleRefused(Exception):
    """Of a rule or a note. `errors`: {field: one sentence}, of all its fields that are wrong. Nothing was stored."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(" ".join(f"{field}: {sentence}" for field, sentence in errors.items()))
        self.errors = dict(errors)


class WrongValue(ValueError):
    """str() is one sentence: what is allowed."""


Check = Callable[[Any], Any]


def checked_fields(fields: Mapping[str, Any], checks: Mapping[str, Check]) -> tuple[dict[str, Any], dict[str, str]]:
    """The values that are right, as they are to be kept, and a sentence for each field that is wrong or not known."""
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name, value in fields.items():
        if name not in checks:
            errors[name] = f"There is no such field; there are {', '.join(checks)}."
            continue
        try:
            values[name] = checks[name](value)
        except WrongValue as wrong:
            errors[name] = str(wrong)
    return values, errors
