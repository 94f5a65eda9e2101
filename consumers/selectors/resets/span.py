"""How far in time a reset reaches: one query, however many queues it has."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Max, Min, Q

from consumers.models import ResetMethod, ResetQueue


@dataclass(frozen=True)
class Span:
    """Null where nothing comes again or is skipped, or the messages at these targets were not read.

    `replayed_from`: when the first message that comes again was stored. `skipped_to`: when the newest message was with
    which a queue goes on that leaves some out.
    """

    replayed_from: datetime | None
    skipped_to: datetime | None


def span_of(reset_id: UUID) -> Span:
    moving = ResetQueue.objects.filter(reset=reset_id, left_out=None).exclude(method=ResetMethod.NOTHING).order_by()
    found = moving.aggregate(
        replayed_from=Min("target_time", filter=Q(replayed_messages__gt=0)),
        skipped_to=Max("target_time", filter=Q(skipped_messages__gt=0)),
    )
    return Span(**found)
