"""The place of a delivery among those of its channel."""

from django.db.models import Max

from consumers.models import Channel, Delivery


def next_number(channel: Channel) -> int:
    """In a transaction, and only while nobody else numbers: it holds the channel's row until the transaction ends."""
    Channel.objects.select_for_update().filter(pk=channel.pk).first()
    newest: int | None = Delivery.objects.filter(channel=channel).aggregate(newest=Max("number"))["newest"]
    return (newest or 0) + 1
