"""Which message of a channel is next. Tests go before the others; of the others no later one overtakes."""

from datetime import datetime, timedelta

from django.db.models import QuerySet

from consumers.models import Channel, Delivery, DeliveryStatus

TO_GO = (DeliveryStatus.WAITING, DeliveryStatus.SENDING)
# Nobody waits for a test any longer than this.
TEST_WAITS = timedelta(minutes=10)
SWITCHED_OFF = "The channel was switched off before it went."
NOBODY_CAME = "No worker took the test up in time: see that a general worker runs, and test again."


def next_delivery(channel: Channel, now: datetime) -> Delivery | None:
    """Whether it may be tried yet is told by its `next_try_at`."""
    to_go = Delivery.objects.filter(channel=channel, status__in=TO_GO).order_by("number")
    _drop(to_go.filter(is_test=True, created_at__lt=now - TEST_WAITS), NOBODY_CAME)
    if not channel.enabled:
        _drop(to_go.filter(is_test=False), SWITCHED_OFF)
    found = to_go.filter(is_test=True).first() or to_go.filter(is_test=False).first()
    if found is not None:
        found.channel = channel
    return found


def _drop(deliveries: QuerySet[Delivery], why: str) -> None:
    deliveries.update(status=DeliveryStatus.DROPPED, next_try_at=None, error=why)
