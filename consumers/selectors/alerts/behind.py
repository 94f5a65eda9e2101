"""What a message waits for: earlier ones of its channel that tell of one of its incidents and are to go."""

from uuid import UUID

from django.db.models import Exists, Min, OuterRef, QuerySet

from consumers.models import Delivery, DeliveryEvent, IncidentEvent
from consumers.models.channels import TO_GO


def told_before() -> QuerySet[DeliveryEvent]:
    """Of a delivery, for an `Exists`: what it tells of incidents that one before it tells of, which is to go.

    Each step looks a few rows up by a key: as one join it may be begun with all that waits.
    """
    number = OuterRef(OuterRef(OuterRef(OuterRef("number"))))
    earlier = Delivery.objects.filter(pk=OuterRef("delivery"), status__in=TO_GO, is_test=False, number__lt=number)
    told = DeliveryEvent.objects.filter(Exists(earlier), channel=OuterRef(OuterRef("channel")), event=OuterRef("pk"))
    of_it = IncidentEvent.objects.filter(Exists(told), incident=OuterRef("event__incident"))
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
