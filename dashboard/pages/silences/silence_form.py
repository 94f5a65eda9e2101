"""What somebody types into the form that silences incidents."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consumers.models import AlertRule
from dashboard.pages.alerts.label_lines import WrongLabels, labels_of
from dashboard.pages.common.moments import read_moment

LENGTHS = {"1h": timedelta(hours=1), "4h": timedelta(hours=4), "1d": timedelta(days=1)}
AT = "at"
CHOICES: list[tuple[str, str | Promise]] = [
    ("1h", gettext_lazy("1 hour")),
    ("4h", gettext_lazy("4 hours")),
    ("1d", gettext_lazy("1 day")),
    (AT, gettext_lazy("until a time")),
]
TYPED = (
    *("cluster", "group_pattern", "topic", "rule", "labels", "everything"),
    *("reason", "length", "ends_at", "starts_at"),
)


def typed(said: Mapping[str, str]) -> dict[str, str]:
    """As it was typed, or as a link filled it in; for the form that is shown again."""
    values = {name: said.get(name, "").strip() for name in TYPED}
    return values | {"length": values["length"] or (AT if values["ends_at"] else "1h")}


def wish(values: Mapping[str, str], now: datetime) -> tuple[dict[str, Any], dict[str, str]]:
    """The fields of a silence, and a sentence for each that cannot be read."""
    fields: dict[str, Any] = {name: values[name] for name in ("cluster", "group_pattern", "topic", "reason")}
    fields["everything"] = values["everything"] == "1"
    errors: dict[str, str] = {}
    starts_at = now
    if values["starts_at"]:
        fields["starts_at"] = starts_at = _moment(values["starts_at"], "starts_at", errors) or now
    if values["length"] in LENGTHS:
        fields["ends_at"] = starts_at + LENGTHS[values["length"]]
    elif values["length"] == AT:
        fields["ends_at"] = _moment(values["ends_at"], "ends_at", errors)
    else:
        errors["length"] = _("Choose for how long.")
    fields["rule"] = _rule(values["rule"], errors)
    try:
        fields["labels"] = labels_of(values["labels"])
    except WrongLabels as wrong:
        errors["labels"] = str(wrong)
    return fields, errors


def _moment(text: str, name: str, errors: dict[str, str]) -> datetime | None:
    at = read_moment(text)
    if at is None:
        errors[name] = _("This is no time: write 2026-03-14 06:00, in UTC.")
    return at


def _rule(text: str, errors: dict[str, str]) -> AlertRule | None:
    if not text:
        return None
    is_number = text.isascii() and text.isdecimal() and len(text) < 19
    rule = AlertRule.objects.filter(pk=int(text)).first() if is_number else None
    if rule is None:
        errors["rule"] = _("There is no such rule any more: choose another one, or all.")
    return rule
