"""The form that silences incidents: what it selects, and an end that is chosen as a length or entered as a time."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consumers.alerts.silences import SILENCE_FIELDS
from dashboard.pages.alerts.alert_forms import AlertForm

LENGTHS = {"1h": timedelta(hours=1), "4h": timedelta(hours=4), "1d": timedelta(days=1)}
AT = "at"
CHOICES: list[tuple[str, str | Promise]] = [
    ("1h", gettext_lazy("1 hour")),
    ("4h", gettext_lazy("4 hours")),
    ("1d", gettext_lazy("1 day")),
    (AT, gettext_lazy("until a time")),
]


class SilenceForm(AlertForm):
    def __init__(
        self, now: datetime, data: Mapping[str, Any] | None = None, stored: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(SILENCE_FIELDS, data, stored)
        self.now = now
        self.fields["length"] = forms.CharField(required=False)

    @property
    def length(self) -> str:
        return self.value("length") or (AT if self.value("ends_at") else "1h")

    def clean(self) -> dict[str, Any]:
        """The end, of the start and the length."""
        fields: dict[str, Any] = super().clean() or self.cleaned_data
        if self.length in LENGTHS:
            self.errors.pop("ends_at", None)
            fields["ends_at"] = (fields.get("starts_at") or self.now) + LENGTHS[self.length]
        elif self.length != AT:
            self.add_error("length", _("Choose for how long."))
        elif fields.get("ends_at") is None and "ends_at" not in self.errors:
            self.add_error("ends_at", _("This is no time: write 2026-03-14 06:00, in UTC."))
        return fields

    def entered(self) -> dict[str, Any]:
        entered = {name: value for name, value in self.cleaned_data.items() if name != "length"}
        return entered | {"starts_at": entered["starts_at"] or self.now}
