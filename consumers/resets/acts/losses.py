"""Lost offsets that somebody takes note of instead of resetting the group: its queues count as never committed then.

The acknowledgement is a row that the next poll applies: only the poll writes what readings say.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from consumers.jobs.audit import note
from consumers.models import ConsumerGroup, LossAcknowledgement
from consumers.queries.queues.lost_offsets import lost_snapshots
from consumers.resets.wish import ResetRefused

from .acts import MAY_RESET, why_no_role


def why_not_acknowledged(group: ConsumerGroup, user: Any) -> str | None:
    """Null where `user` may acknowledge what the group lost."""
    if not user.has_perm(MAY_RESET):
        return why_no_role()
    if LossAcknowledgement.objects.filter(group=group, applied_at=None).exists():
        return _("The loss is acknowledged already: the next poll takes note of it.")
    if not lost_snapshots([group.pk]).exists():
        return _("No offset of the group is lost: there is nothing to acknowledge.")
    return None


def acknowledge_loss(group: ConsumerGroup, by: Any, now: datetime) -> LossAcknowledgement:
    """Of all queues that are lost by now. Raises ResetRefused."""
    with transaction.atomic():
        # Two at once take their turn.
        ConsumerGroup.objects.select_for_update().get(pk=group.pk)
        if against := why_not_acknowledged(group, by):
            raise ResetRefused(against)
        rows = lost_snapshots([group.pk]).select_related("queue__topic")
        queues = [
            {
                "topic": row.queue.topic.name,
                "broker": row.queue.broker,
                "queue_id": row.queue.queue_id,
                "lost_offset": row.lost_offset,
                "lost_at": row.lost_at.isoformat() if row.lost_at else None,
            }
            for row in rows.order_by("queue__topic__name", "queue__broker", "queue__queue_id")
        ]
        made = LossAcknowledgement.objects.create(group=group, at=now, by=by, by_name=by.get_username(), queues=queues)
        note(group, group.name, by, f"Acknowledged the lost offsets of {len(queues)} queues.", now)
    return made
