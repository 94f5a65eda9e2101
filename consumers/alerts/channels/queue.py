"""Selects the next message of a channel, and the channels that have one.

A message waits only for earlier messages about one of the same incidents. Test messages go first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Max, Min, OuterRef, Q, QuerySet

from consumers.alerts.measured import Subject
from consumers.alerts.queries.deliveries import earlier_notifications
from consumers.alerts.rule_terms import Selection
from consumers.models import (
    Channel,
    Delivery,
    DeliveryEvent,
    DeliveryStatus,
    Incident,
    IncidentEventKind,
    IncidentStatus,
)
from consumers.models.channels import TO_GO
from consumers.vocabulary.alerts import DeliveryResult
from consumers.vocabulary.reasons import stored_reason

from .receiver import CHANNEL_KINDS, LONGEST_HOLD, LONGEST_PAUSE, is_held


@dataclass(frozen=True)
class Taking:
    """Filter of one channel by severity, rule and selection; an empty filter passes everything. Made once for many
    incidents.
    """

    enabled: bool
    severities: frozenset[str]
    rules: frozenset[int]
    selection: Selection

    @classmethod
    def of(cls, channel: Channel) -> "Taking":
        """`rules` of the channel may be prefetched."""
        return cls(
            enabled=channel.enabled,
            severities=frozenset(channel.severities),
            rules=frozenset(rule.pk for rule in channel.rules.all()),
            selection=Selection(channel.cluster, channel.group_pattern, "", channel.labels),
        )

    def takes(self, incident: Incident) -> bool:
        if not self.enabled or (self.severities and incident.severity not in self.severities):
            return False
        if self.rules and incident.rule_id not in self.rules:
            return False
        return self.selection.takes(Subject.of_incident(incident), incident.labels)


# A test message that is still queued after this time is given up.
TEST_WAITS = timedelta(minutes=10)
AT_ONCE = 100
SWITCHED_OFF = stored_reason(DeliveryResult.SWITCHED_OFF)
# Filters rows of DeliveryEvent: the message is not sent any more, and certainly reached nobody.
NOT_SENT = (DeliveryStatus.FAILED, DeliveryStatus.DROPPED)
NOT_ARRIVED = Q(delivery__status__in=NOT_SENT, delivery__may_have_arrived=False)
NOBODY_KNOWS = stored_reason(DeliveryResult.FIRING_UNKNOWN)
# How often firing incidents are repeated to a receiver that forgets them.
REPEAT_EVERY = timedelta(seconds=60)
REPEATING = [kind.code for kind in CHANNEL_KINDS.values() if kind.repeat is not None]
NOBODY_CAME = stored_reason(DeliveryResult.TEST_UNTAKEN)


def next_delivery(channel: Channel, now: datetime) -> Delivery | None:
    """The next message to send at `now`, or None. Payloads of the other messages are not read."""
    _drop_what_is_over(channel, now)
    while (number := _next(channel, now)) is not None:
        if (found := _numbered(channel, number)) is not None:
            return found
    return None


def is_ready(channel: Channel, now: datetime) -> bool:
    """Whether `next_delivery` has a message."""
    return _next(channel, now) is not None


def next_moment(channel: Channel, now: datetime) -> datetime | None:
    """When the next message may be sent that may not be sent yet; None where none is queued."""
    if not channel.enabled or _oldest(channel) is None:
        return None
    if is_held(channel.held_until, now):
        return channel.held_until
    later = _untested(channel).filter(next_try_at__gt=now).aggregate(at=Min("next_try_at"))
    found: datetime | None = later["at"]
    return found


def never_refused(channel: Channel, besides: Delivery) -> Delivery | None:
    """The first message that its receiver has not refused and that waits for no earlier message."""
    numbers = _untested(channel).filter(refusals=0).exclude(number=besides.number).values_list("number", flat=True)
    return _numbered(channel, _first_in_order(channel, sorted(numbers)))


def try_all_again(channel: Channel, now: datetime) -> None:
    """Retries all refused messages in order: the receiver was at fault, not the messages."""
    _untested(channel).filter(refusals__gt=0).update(refusals=0, next_try_at=now)


def give_up_what_is_old(channel: Channel, why: str, now: datetime) -> None:
    """Gives up old messages: for a receiver that takes nothing, they would be retried one by one forever. `why` is a
    stored reason.
    """
    hours = settings.ALERT_DELIVERY_HOURS
    old = _untested(channel).filter(created_at__lte=now - timedelta(hours=hours))
    error = stored_reason(DeliveryResult.GIVEN_UP, hours=f"{hours:g}", why=why)
    old.update(status=DeliveryStatus.FAILED, next_try_at=None, error=error)


def _next(channel: Channel, now: datetime) -> int | None:
    """The number of the next message."""
    test = _lowest(_to_go(channel, is_test=True))
    if test is not None or not channel.enabled:
        return test
    oldest = _oldest(channel)
    if oldest is None or is_held(channel.held_until, now):
        return None
    if channel.held_until is not None or not Delivery.objects.filter(channel=channel, number=oldest, refusals__gt=0):
        return oldest  # no message precedes it
    waiting = sorted(_untested(channel).filter(is_due(now) | Q(refusals=0)).values_list("number", "refusals"))
    fresh, refused = ([number for number, refusals in waiting if (refusals > 0) is was] for was in (False, True))
    return _first_in_order(channel, fresh) or _first_in_order(channel, refused)


def _oldest(channel: Channel) -> int | None:
    return _lowest(_untested(channel))


def _lowest(deliveries: QuerySet[Delivery]) -> int | None:
    found: int | None = deliveries.aggregate(first=Min("number"))["first"]
    return found


def _numbered(channel: Channel, number: int | None) -> Delivery | None:
    """None also where nothing of the message is left to send: then it is dropped."""
    if number is None:
        return None
    found = Delivery.objects.get(channel=channel, number=number)
    found.channel = channel
    return found if _leave_out_unknown_ends(found) else None


def _leave_out_unknown_ends(delivery: Delivery) -> bool:
    """Leaves out resolutions whose firing was given up after the message was queued. Returns whether any event is left.

    A message is never changed once it was tried. One that may hold such a resolution was not: it waits for the firing.
    """
    if delivery.is_test or delivery.attempts:
        return True
    of_it = DeliveryEvent.objects.filter(delivery=delivery)
    given_up = DeliveryEvent.objects.filter(
        NOT_ARRIVED,
        channel=delivery.channel_id,
        event__kind=IncidentEventKind.FIRING,
        event__incident=OuterRef("event__incident"),
    )
    ends = of_it.filter(Exists(given_up), event__kind=IncidentEventKind.RESOLVED)
    left_out = dict(ends.values_list("event", "pk"))
    if not left_out:
        return True
    left = [event for event in delivery.payload["events"] if event["id"] not in left_out]
    if not left:
        _drop(Delivery.objects.filter(pk=delivery.pk), NOBODY_KNOWS)
        return False
    with transaction.atomic():
        of_it.filter(pk__in=left_out.values()).delete()
        delivery.payload["events"] = left
        delivery.save(update_fields=["payload"])
    return True


def is_due(now: datetime) -> Q:
    """No pause is longer than LONGEST_PAUSE. A longer one was recorded by a clock that was set back since."""
    return Q(next_try_at=None) | Q(next_try_at__lte=now) | Q(next_try_at__gt=now + LONGEST_PAUSE)


def _first_in_order(channel: Channel, numbers: Sequence[int]) -> int | None:
    """The first of `numbers` that waits for no earlier message."""
    for start in range(0, len(numbers), AT_ONCE):
        some = Delivery.objects.filter(channel=channel, number__in=numbers[start : start + AT_ONCE])
        found = (
            some.filter(~Exists(earlier_notifications())).order_by("number").values_list("number", flat=True).first()
        )
        if found is not None:
            return found
    return None


def _to_go(channel: Channel, is_test: bool) -> QuerySet[Delivery]:
    # SQLite uses an index for a boolean only if the boolean is one of a list.
    return Delivery.objects.filter(channel=channel, status__in=TO_GO, is_test__in=(is_test,))


def _untested(channel: Channel) -> QuerySet[Delivery]:
    return _to_go(channel, is_test=False)


def _drop_what_is_over(channel: Channel, now: datetime) -> None:
    _drop(_to_go(channel, is_test=True).filter(created_at__lt=now - TEST_WAITS), NOBODY_CAME)
    if not channel.enabled:
        _drop(_untested(channel), SWITCHED_OFF)


def _drop(deliveries: QuerySet[Delivery], why: str) -> None:
    deliveries.update(status=DeliveryStatus.DROPPED, next_try_at=None, error=why)


def next_number(channel: Channel) -> int:
    """The next number. Call it in a transaction: it locks the channel's row until the transaction ends."""
    Channel.objects.select_for_update().filter(pk=channel.pk).first()
    newest: int | None = Delivery.objects.filter(channel=channel).aggregate(newest=Max("number"))["newest"]
    return (newest or 0) + 1


def channels_due(now: datetime) -> list[int]:
    """Ids of channels with a message to send or retry, or with a repeat that is due. Two queries.

    The worker that takes a channel finds out whether another worker holds it and whether its messages wait for earlier
    ones.
    """
    waiting = Delivery.objects.filter(channel=OuterRef("pk"), status__in=TO_GO)
    held = Q(held_until__gt=now, held_until__lte=now + LONGEST_HOLD)
    due = Q(Exists(waiting.filter(is_due(now)))) & ~held | Q(Exists(waiting.filter(is_test=True)))
    if _something_fires():
        long_ago = Q(repeated_at=None) | Q(repeated_at__lte=now - REPEAT_EVERY)
        due |= Q(kind__in=REPEATING, enabled=True) & long_ago & ~held
    return list(Channel.objects.filter(due).order_by("pk").values_list("pk", flat=True))


def comes_again(channel_id: int, now: datetime) -> datetime | None:
    """When the channel's next message may be sent or its next repeat is due; None where there is neither."""
    channel = Channel.objects.filter(pk=channel_id).first()
    if channel is None:
        return None
    if is_ready(channel, now):
        return now
    moments = [next_moment(channel, now), _repeated_again(channel, now)]
    return min((moment for moment in moments if moment is not None), default=None)


def _repeated_again(channel: Channel, now: datetime) -> datetime | None:
    if channel.kind not in REPEATING or not channel.enabled or not _something_fires():
        return None
    if is_held(channel.held_until, now):
        return channel.held_until
    return now if channel.repeated_at is None else channel.repeated_at + REPEAT_EVERY


def _something_fires() -> bool:
    return Incident.objects.filter(status=IncidentStatus.FIRING).exists()
