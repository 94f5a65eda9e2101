"""Messages that went or are to go through channels: those of a channel, or those that told of an incident."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Count, F, Window
from django.db.models.functions import RowNumber
from django.utils.translation import gettext as _

from consumers.models import Delivery, DeliveryAttempt, DeliveryEvent, DeliveryStatus

from .rows import AttemptRow, DeliveryRow
from .said import said

INCIDENTS_NAMED = 20
TOLD_SHOWN = 200
PLAIN = ("number", "is_test", "status", "created_at", "attempts")


def channel_deliveries(
    channel_id: int, *, status: str | None = None, page: int = 1, page_size: int = 100
) -> tuple[list[DeliveryRow], int]:
    """The newest first, and how many there are. Four queries."""
    found = Delivery.objects.filter(channel=channel_id).select_related("channel").order_by("-number")
    if status is not None:
        found = found.filter(status=status)
    start = (page - 1) * page_size
    return delivery_rows(list(found[start : start + page_size])), found.count()


def deliveries_of_incident(incident_id: UUID) -> list[DeliveryRow]:
    """The newest first, at most TOLD_SHOWN. Three queries."""
    telling = DeliveryEvent.objects.filter(event__incident=incident_id).values("delivery")
    found = Delivery.objects.filter(pk__in=telling).select_related("channel").order_by("-created_at", "-number", "pk")
    return delivery_rows(list(found[:TOLD_SHOWN]))


def delivery_rows(deliveries: Sequence[Delivery]) -> list[DeliveryRow]:
    """In the same order; each comes with its channel. Three queries, none without a delivery."""
    if not deliveries:
        return []
    ids = [delivery.pk for delivery in deliveries]
    telling = DeliveryEvent.objects.filter(delivery__in=ids)
    changes = dict(telling.values_list("delivery").annotate(Count("pk")).order_by())
    incidents, tries = _incidents(ids), _tries(ids)
    return [
        _row(delivery, changes.get(delivery.pk, 0), incidents[delivery.pk], tries[delivery.pk])
        for delivery in deliveries
    ]


def _incidents(ids: Iterable[UUID]) -> dict[UUID, list[str]]:
    place = Window(RowNumber(), partition_by=F("delivery_id"), order_by=F("pk").asc())
    first = DeliveryEvent.objects.filter(delivery__in=ids).annotate(place=place).filter(place__lte=INCIDENTS_NAMED)
    found: dict[UUID, list[str]] = defaultdict(list)
    for delivery, incident in first.order_by("pk").values_list("delivery", "event__incident"):
        if str(incident) not in found[delivery]:
            found[delivery].append(str(incident))
    return found


def _tries(ids: Iterable[UUID]) -> dict[UUID, list[AttemptRow]]:
    """In their order."""
    found: dict[UUID, list[AttemptRow]] = defaultdict(list)
    for attempt in DeliveryAttempt.objects.filter(delivery__in=ids).order_by("number"):
        found[attempt.delivery_id].append(_attempt(attempt))
    return found


def _attempt(attempt: DeliveryAttempt) -> AttemptRow:
    not_seen = _("its end was not seen: it may have arrived")
    why = {"seconds": not_seen, "ok": not_seen, "answer": not_seen if attempt.ok is None else _("nothing was answered")}
    values = {"seconds": attempt.seconds, "ok": attempt.ok, "answer": attempt.answer}
    return AttemptRow(number=attempt.number, at=attempt.at, **said(values, why))


def _row(delivery: Delivery, changes: int, incidents: list[str], tries: list[AttemptRow]) -> DeliveryRow:
    why = {
        "next_try_at": _("it is not to be tried any more")
        if delivery.status not in (DeliveryStatus.WAITING, DeliveryStatus.SENDING)
        else _("it is being tried"),
        "sent_at": _("it was not seen to arrive"),
        "error": _("nothing went wrong at its newest try") if delivery.attempts else _("it was not tried yet"),
    }
    return DeliveryRow(
        id=str(delivery.pk),
        channel=delivery.channel_id,
        channel_name=delivery.channel.name,
        **{name: getattr(delivery, name) for name in PLAIN},
        changes=changes,
        incidents=incidents,
        tries=tries,
        **said({name: getattr(delivery, name) for name in why}, why),
    )
