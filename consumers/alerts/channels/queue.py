"""Which message of a channel is next.

A message waits only for earlier ones that tell of one of the same incidents. Tests go before all others.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from consumers.models import Channel, Delivery, DeliveryEvent, DeliveryStatus

from .back_off import LONGEST_PAUSE, is_held

TO_GO = (DeliveryStatus.WAITING, DeliveryStatus.SENDING)
# Nobody waits for a test any longer than this.
TEST_WAITS = timedelta(minutes=10)
SWITCHED_OFF = "The channel was switched off before it went."
NOBODY_CAME = "No worker took the test up in time: see that a general worker runs, and test again."


def next_delivery(channel: Channel, now: datetime) -> Delivery | None:
    """None: nothing may be sent at `now`. Payloads of those that stay where they are, are not read."""
    _drop_what_is_over(channel, now)
    key = _next(channel, now)
    return None if key is None else with_channel(channel, key)


def is_ready(channel: Channel, now: datetime) -> bool:
    """Whether `next_delivery` has one."""
    return _next(channel, now) is not None


def next_moment(channel: Channel, now: datetime) -> datetime | None:
    """When one may be sent that may not yet; None where none is to go."""
    waiting = _untested(channel)
    if not channel.enabled or not waiting.exists():
        return None
    if is_held(channel.held_until, now):
        return channel.held_until
    return waiting.filter(next_try_at__gt=now).order_by("next_try_at").values_list("next_try_at", flat=True).first()


def never_refused(channel: Channel) -> QuerySet[Delivery]:
    """Those that may go for all that their receiver has said, and wait for none before them; in their order."""
    return _in_order(_untested(channel).filter(refusals=0))


def try_all_again(channel: Channel, now: datetime) -> None:
    """What was refused was the receiver's fault: all that waits goes in its order again."""
    _untested(channel).filter(refusals__gt=0).update(refusals=0, next_try_at=now)


def give_up_what_is_old(channel: Channel, why: str, now: datetime) -> None:
    """What waits for a receiver that takes nothing would be tried one by one for ever."""
    hours = settings.ALERT_DELIVERY_HOURS
    old = _untested(channel).filter(created_at__lte=now - timedelta(hours=hours))
    error = f"Given up after {hours:g} h in which nothing could be delivered: {why}"
    old.update(status=DeliveryStatus.FAILED, next_try_at=None, error=error)


def with_channel(channel: Channel, key: object) -> Delivery:
    found = Delivery.objects.get(pk=key)
    found.channel = channel
    return found


def _next(channel: Channel, now: datetime) -> object | None:
    test = _to_go(channel).filter(is_test=True).order_by("number").values_list("pk", flat=True).first()
    if test is not None or not channel.enabled:
        return test
    oldest = _untested(channel).order_by("number").values_list("pk", "refusals").first()
    if oldest is None or is_held(channel.held_until, now):
        return None
    if channel.held_until is not None or not oldest[1]:
        return oldest[0]  # none is before it
    return _first(never_refused(channel)) or _first(_in_order(_untested(channel).filter(is_due(now))))


def is_due(now: datetime) -> Q:
    """No pause is longer than LONGEST_PAUSE: one that seems so was noted by a clock that was set back since."""
    return Q(next_try_at=None) | Q(next_try_at__lte=now) | Q(next_try_at__gt=now + LONGEST_PAUSE)


def _in_order(deliveries: QuerySet[Delivery]) -> QuerySet[Delivery]:
    return deliveries.filter(~Exists(earlier_of(OuterRef))).order_by("number")


def earlier_of(of: type[OuterRef]) -> QuerySet[DeliveryEvent]:
    """What is to go before a message, as it tells of one of its incidents."""
    return DeliveryEvent.objects.filter(
        event__incident__events__told_by__delivery=of("pk"),
        delivery__channel=of("channel"),
        delivery__status__in=TO_GO,
        delivery__is_test=False,
        delivery__number__lt=of("number"),
    )


def _first(deliveries: QuerySet[Delivery]) -> object | None:
    return deliveries.values_list("pk", flat=True).first()


def _to_go(channel: Channel) -> QuerySet[Delivery]:
    return Delivery.objects.filter(channel=channel, status__in=TO_GO)


def _untested(channel: Channel) -> QuerySet[Delivery]:
    return _to_go(channel).filter(is_test=False)


def _drop_what_is_over(channel: Channel, now: datetime) -> None:
    _drop(_to_go(channel).filter(is_test=True, created_at__lt=now - TEST_WAITS), NOBODY_CAME)
    if not channel.enabled:
        _drop(_untested(channel), SWITCHED_OFF)


def _drop(deliveries: QuerySet[Delivery], why: str) -> None:
    deliveries.update(status=DeliveryStatus.DROPPED, next_try_at=None, error=why)
