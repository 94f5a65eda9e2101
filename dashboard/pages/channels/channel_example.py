"""What a channel's templates, as they are typed, make of the newest incident that fired. Nothing is sent or kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _

from consumers.alerts.channels.delivery.payload import payload_of
from consumers.alerts.channels.texts.render import Rendered, render
from consumers.alerts.channels.texts.sample import sample_payload
from consumers.models import Channel, IncidentEvent, IncidentEventKind

NO_DELIVERY = UUID(int=0)


@dataclass(frozen=True)
class Example:
    """`of`: what it is made of, in words."""

    of: str
    rendered: Rendered


def example_of(kind: str, said: Mapping[str, str], now: datetime) -> Example:
    channel = Channel(
        name=said.get("name", "") or _("this channel"),
        kind=kind,
        title_template=said.get("title_template", ""),
        body_template=said.get("body_template", "").replace("\r\n", "\n"),
    )
    fired = IncidentEvent.objects.filter(kind=IncidentEventKind.FIRING)
    event = fired.select_related("incident__rule").order_by("-at", "-pk").first()
    named = settings.ALERT_NAMED_IN_MESSAGE
    if event is None:
        payload = sample_payload(NO_DELIVERY, 1, channel, _("somebody"), now)
        return Example(_("a test, as nothing has fired yet"), render(payload, channel, named))
    payload = payload_of(NO_DELIVERY, 1, channel, event.incident.rule, [event])
    return Example(_("the newest incident that fired"), render(payload, channel, named))
