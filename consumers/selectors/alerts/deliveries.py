"""Messages that went or are to go through channels: those of a channel, or those that told of an incident."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, F, Window
from django.db.models.functions import RowNumber
from django.utils.translation import gettext as _

from consumers.models import Delivery, DeliveryAttempt, DeliveryEvent, DeliveryStatus
from consumers.models.channels import TO_GO

from .behind import first_before, told_before
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
    """In the same order; each comes with its channel. Three queries, a fourth where some wait, none without any."""
    if not deliveries:
        return []
    ids = [delivery.pk for delivery in deliveries]
    telling = DeliveryEvent.objects.filter(delivery__in=ids)
    changes = dict(telling.values_list("delivery").annotate(Count("pk")).order_by())
    incidents, tries, before = _incidents(ids), _tries(ids), _before(deliveries)
    return [
        _row(delivery, changes.get(delivery.pk, 0), incidents[delivery.pk], tries[delivery.pk], before.get(delivery.pk))
        for delivery in deliveries
    ]


def _before(deliveries: Sequence[Delivery]) -> dict[UUID, int]:
    """The number of the message that one waits for, of those that do."""
    waiting = [delivery.pk for delivery in deliveries if delivery.status in TO_GO and not delivery.is_test]
    if not waiting:
        return {}
    behind = Delivery.objects.filter(Exists(told_before()), pk__in=waiting).order_by()
    return {key: number for key in behind.values_list("pk", flat=True) if (number := first_before(key)) is not None}


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


def _row(
    delivery: Delivery, changes: int, incidents: list[str], tries: list[AttemptRow], before: int | None
) -> DeliveryRow:
    next_try_at, waits_why = _wait(delivery, before)
    values = {"next_try_at": next_try_at, "waits_for": before, "waits_why": waits_why}
    is_to_go = delivery.status in TO_GO
    why = {
        "next_try_at": (waits_why or _("it is being tried")) if is_to_go else _("it is not to be tried any more"),
        "sent_at": _("it was not seen to arrive"),
        "error": _("nothing went wrong at its newest try") if delivery.attempts else _("it was not tried yet"),
        "waits_for": _("it waits for no other message"),
        "waits_why": _("it is being tried") if is_to_go else _("it does not wait"),
    }
    return DeliveryRow(
        id=str(delivery.pk),
        channel=delivery.channel_id,
        channel_name=delivery.channel.name,
        **{name: getattr(delivery, name) for name in PLAIN},
        changes=changes,
        incidents=incidents,
        tries=tries,
        **said({name: values.get(name, getattr(delivery, name, None)) for name in why}, why),
    )


def _wait(delivery: Delivery, before: int | None) -> tuple[datetime | None, str | None]:
    """When it is tried next, where that can be told, and what it waits for."""
    own, held_until = delivery.next_try_at, delivery.channel.held_until
    if delivery.status != DeliveryStatus.WAITING:
        return own, None
    if before is not None:
        return None, _("message %s tells of one of its incidents before it, and was not taken yet") % before
    if delivery.is_test or not delivery.channel.enabled:
        return own, _("a worker is to take it up")
    if held_until is not None and (own is None or held_until > own):
        return held_until, _("the channel is left alone for a while: %s") % delivery.channel.failing_why
    return own, _("it was not taken") if delivery.refusals else _("a worker is to take it up")
