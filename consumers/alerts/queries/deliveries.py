"""Messages that were sent or are queued, and channels that do not deliver."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils.translation import gettext as _

from consumers.alerts.queries.rows import AttemptRow, DeliveryRow, with_unknown
from consumers.models import Channel, Delivery, DeliveryAttempt, DeliveryEvent, DeliveryStatus, IncidentEvent
from consumers.models.channels import SEVERAL, TO_GO
from consumers.queries.declared import answered
from consumers.words.reasons import stored_words


# What a message waits for: earlier ones of its channel that tell of one of its incidents and are to go.
def earlier_notifications() -> QuerySet[DeliveryEvent]:
    """Of a delivery, for an `Exists`: what it tells of incidents that one before it tells of, which is to go.

    Each step looks a few rows up by a key: as one join it may be begun with all that waits.
    """
    number = OuterRef(OuterRef(OuterRef(OuterRef("number"))))
    earlier = Delivery.objects.filter(pk=OuterRef("delivery"), status__in=TO_GO, is_test=False, number__lt=number)
    notified = DeliveryEvent.objects.filter(
        Exists(earlier), channel=OuterRef(OuterRef("channel")), event=OuterRef("pk")
    )
    of_it = IncidentEvent.objects.filter(Exists(notified), incident=OuterRef("event__incident"))
    return DeliveryEvent.objects.filter(Exists(of_it), delivery=OuterRef("pk"))


def first_before(key: UUID) -> int | None:
    """The number of the first message that a delivery waits for. Three look-ups, each by a key."""
    of_it = DeliveryEvent.objects.filter(delivery=key)
    incidents = of_it.values_list("event__incident", flat=True)
    changes = list(IncidentEvent.objects.filter(incident__in=incidents).values_list("pk", flat=True))
    channel, number = Delivery.objects.values_list("channel", "number").get(pk=key)
    telling = DeliveryEvent.objects.filter(channel=channel, event__in=changes).values_list("delivery", flat=True)
    earlier = Delivery.objects.filter(pk__in=set(telling), status__in=TO_GO, number__lt=number, is_test=False)
    found: int | None = earlier.aggregate(first=Min("number"))["first"]
    return found


# Messages that went or are to go through channels: those of a channel, or those that told of an incident.
INCIDENTS_NAMED = 20

DELIVERIES_SHOWN = 200


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
    """The newest first, at most DELIVERIES_SHOWN. Three queries."""
    telling = DeliveryEvent.objects.filter(event__incident=incident_id).values("delivery")
    found = Delivery.objects.filter(pk__in=telling).select_related("channel").order_by("-created_at", "-number", "pk")
    return delivery_rows(list(found[:DELIVERIES_SHOWN]))


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
    behind = Delivery.objects.filter(Exists(earlier_notifications()), pk__in=waiting).order_by()
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
    not_seen = _("result unknown: the message may have arrived")
    why = {"seconds": not_seen, "ok": not_seen, "answer": not_seen if attempt.ok is None else _("no response")}
    values = {"seconds": attempt.seconds, "ok": attempt.ok, "answer": stored_words(attempt.answer)}
    return AttemptRow(number=attempt.number, at=attempt.at, **with_unknown(values, why))


def _row(
    delivery: Delivery, changes: int, incidents: list[str], tries: list[AttemptRow], before: int | None
) -> DeliveryRow:
    next_try_at, waits_why = _wait(delivery, before)
    is_to_go = delivery.status in TO_GO
    why = {
        "next_try_at": (waits_why or _("being sent")) if is_to_go else _("no further try"),
        "sent_at": _("arrival not confirmed"),
        "error": _("the last try had no error") if delivery.attempts else _("not tried yet"),
        "waits_for": _("not waiting for another message"),
        "waits_why": _("being sent") if is_to_go else _("not waiting"),
    }
    return answered(
        DeliveryRow,
        delivery,
        why,
        id=str(delivery.pk),
        error=stored_words(delivery.error),
        channel=delivery.channel_id,
        channel_name=delivery.channel.name,
        next_try_at=next_try_at,
        waits_for=before,
        waits_why=waits_why,
        changes=changes,
        incidents=incidents,
        tries=tries,
    )


def _wait(delivery: Delivery, before: int | None) -> tuple[datetime | None, str | None]:
    """When it is tried next, where that can be told, and what it waits for."""
    own, held_until = delivery.next_try_at, delivery.channel.held_until
    if delivery.status != DeliveryStatus.WAITING:
        return own, None
    if before is not None:
        return None, _("waiting for message %s about the same incident, which was not accepted yet") % before
    if delivery.is_test or not delivery.channel.enabled:
        return own, _("waiting for a worker")
    if held_until is not None and (own is None or held_until > own):
        return held_until, _("the channel is paused")
    return own, _("not accepted") if delivery.refusals else _("waiting for a worker")


# Messages that wait to be sent, and since when nothing was taken, by channel.
NONE_WAIT: tuple[int, datetime | None] = (0, None)


@dataclass(frozen=True)
class Waiting:
    """`since`: since when the oldest of them waits; null where none does. `failing`: for how long nothing was taken
    that was tried; zero where the newest try was, null where none was made yet.
    """

    channel: str
    messages: int
    since: datetime | None
    failing: timedelta | None


def waiting_messages(now: datetime) -> list[Waiting]:
    """Of every channel, also where none waits. Two queries, a third where some wait."""
    was_taken = Exists(Delivery.objects.filter(channel=OuterRef("pk"), status=DeliveryStatus.SENT))
    rows = Channel.objects.order_by("name").annotate(was_taken=was_taken)
    waits, found = waits_by_channel(), []
    for key, name, since, taken in rows.values_list("pk", "name", "failing_since", "was_taken"):
        messages, oldest = waits.get(key, NONE_WAIT)
        found.append(Waiting(name, messages, oldest, _failing(since, taken, now)))
    return found


def waits_by_channel() -> dict[int, tuple[int, datetime | None]]:
    """Returns, for channels with messages to send, their number and when the first of them was made. The first messages
    are looked up by their numbers: a column behind a payload is slow to read in each row."""
    rows = Delivery.objects.filter(status__in=TO_GO).order_by().values_list("channel")
    found = {channel: (count, first) for channel, count, first in rows.annotate(Count("number"), Min("number"))}
    if not found:
        return {}
    firsts = [Q(channel=channel, number=number) for channel, (_, number) in found.items()]
    made = dict(Delivery.objects.filter(reduce(or_, firsts)).values_list("channel", "created_at"))
    return {channel: (count, made[channel]) for channel, (count, _) in found.items() if channel in made}


def _failing(since: datetime | None, was_taken: bool, now: datetime) -> timedelta | None:
    if since is not None:
        return max(now - since, timedelta())
    return timedelta() if was_taken else None


# Channels that do not deliver: whatever fires is told to nobody through them.
# A receiver that is restarted is no trouble, and a worker that is busy with another channel neither.
LATE = timedelta(minutes=2)


@dataclass(frozen=True)
class FailingChannel:
    """`why`: what became of the newest try; null where none was made, as no worker came. `messages`: so many wait."""

    channel: int
    name: str
    since: datetime
    messages: int
    why: str | None

    @property
    def sentence(self) -> str:
        if self.why is None:
            return _("no worker sends the messages: check that a worker for the queue alerts runs")
        return self.why


def failing_channels(now: datetime) -> list[FailingChannel]:
    """In order of their names, of those that are switched on. Two queries, a third where messages wait."""
    waits = waits_by_channel()
    in_doubt = Q(failing_since__isnull=False) | Q(pk__in=waits)
    rows = Channel.objects.filter(in_doubt, enabled=True).order_by("name").defer("sealed")
    found = [_of(row, waits.get(row.pk, NONE_WAIT), now) for row in rows]
    return [one for one in found if one is not None]


def _of(row: Channel, waiting: tuple[int, datetime | None], now: datetime) -> FailingChannel | None:
    messages, oldest = waiting
    fails = row.failing_since is not None and (row.failures >= SEVERAL or now - row.failing_since >= LATE)
    waits = oldest is not None and now - oldest >= LATE
    since = row.failing_since if fails else oldest if waits else None
    return None if since is None else FailingChannel(row.pk, row.name, since, messages, stored_words(row.failing_why))
