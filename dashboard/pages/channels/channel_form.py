"""The form of a channel, of the fields that its kind declares, and what its templates make of the newest incident.

Secrets are never shown again: an address that is left empty stays as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import QueryDict
from django.utils.translation import gettext as _

from consumers.alerts.channels.channel_kinds import kind_of
from consumers.alerts.channels.channel_settings import CHANNEL_FIELDS, TEMPLATES
from consumers.alerts.channels.delivery.payload import payload_of
from consumers.alerts.channels.texts.render import Rendered, render, sample_payload
from consumers.alerts.fields import EntryField, Shape
from consumers.models import Channel, IncidentEvent, IncidentEventKind
from dashboard.pages.alerts.alert_forms import AlertForm

# Lines that a template is shown with.
ROWS_OF = {"title_template": 2, "body_template": 8}


class ChannelForm(AlertForm):
    """`row`: the channel that is stored already. `address`: the fields of its kind, none of which is shown again."""

    def __init__(self, kind: str, row: Channel | None = None, data: QueryDict | None = None) -> None:
        self.kind, self.row = kind_of(kind), row
        self.address = {field.name: field for field in self.kind.fields}
        columns = [one for one in CHANNEL_FIELDS if self.kind.has_templates or one.name not in TEMPLATES]
        super().__init__([*columns, *self.kind.fields], data, _stored(row))
        for name in ROWS_OF.keys() & self.fields.keys():
            self.fields[name].widget.attrs["rows"] = ROWS_OF[name]

    def entered(self) -> dict[str, Any]:
        """Without what is to stay as it is stored."""
        fields = {name: value for name, value in self.cleaned_data.items() if name not in self.address}
        typed = QueryDict() if not isinstance(self.data, QueryDict) else self.data
        for name, entry in self.address.items():
            if not entry.is_required and name in typed.getlist("forget"):
                fields[name] = entry.default
            elif typed.get(name, "").strip() or (entry.is_required and self.row is None):
                fields[name] = self.cleaned_data[name]
        return {**fields, "kind": self.kind.code}

    def line(self, entry: EntryField, error: str) -> dict[str, Any]:
        line = super().line(entry, error)
        if entry.name not in self.address:
            return line
        if self.row is not None:
            kept, perhaps = (
                _("set, and not shown; leave empty to keep it"),
                _("not shown, if set; leave empty to keep it"),
            )
            line["hint"] = f"{line['hint']} · {kept if entry.is_required else perhaps}"
        if entry.is_secret and self.data.get(entry.name) and not error:
            line["error"] = _("Type it again: what was typed is not shown.")
        return line | {"can_forget": self.row is not None and not entry.is_required}


def _stored(row: Channel | None) -> Mapping[str, Any]:
    if row is None:
        return {"enabled": True, "tells_resolved": True}
    stored = {entry.name: getattr(row, entry.name) for entry in CHANNEL_FIELDS if entry.shape != Shape.IDS}
    return {**stored, "rules": [rule.pk for rule in row.rules.all()]}


NO_DELIVERY = UUID(int=0)


@dataclass(frozen=True)
class Example:
    """`of`: what it is made of, in words."""

    of: str
    rendered: Rendered


def example_of(form: ChannelForm, now: datetime) -> Example:
    channel = Channel(
        name=form.value("name") or _("this channel"),
        kind=form.kind.code,
        title_template=form.value("title_template"),
        body_template=form.value("body_template").replace("\r\n", "\n"),
    )
    fired = IncidentEvent.objects.filter(kind=IncidentEventKind.FIRING)
    event = fired.select_related("incident__rule").order_by("-at", "-pk").first()
    named = settings.ALERT_NAMED_IN_MESSAGE
    if event is None:
        payload = sample_payload(NO_DELIVERY, 1, channel, _("somebody"), now)
        return Example(_("a test, as nothing has fired yet"), render(payload, channel, named))
    payload = payload_of(NO_DELIVERY, 1, channel, event.incident.rule, [event])
    return Example(_("the newest incident that fired"), render(payload, channel, named))
