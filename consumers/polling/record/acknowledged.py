"""Losses that somebody took note of: their queues count as never committed, and still say what was lost."""

from datetime import datetime

import numpy as np

from consumers.models import Cluster, LossAcknowledgement
from consumers.polling.brokers.min_offset_memory import microseconds
from consumers.vocabulary.unknown import UnknownReason

from .lost import LOST_AT
from .snapshots import Columns, write


def apply_acknowledgements(cluster: Cluster, stored: Columns, now: datetime) -> Columns:
    """Writes the rows that an acknowledgement concerns; those that lost an offset after it stay lost. One query."""
    waiting = list(LossAcknowledgement.objects.filter(group__cluster=cluster, applied_at=None))
    if not waiting:
        return stored
    until = {row.group_id: max(one.at for one in waiting if one.group_id == row.group_id) for row in waiting}
    lost = stored.reasons.is_in([UnknownReason.OFFSET_LOST])
    chosen = np.zeros(len(stored.keys), bool)
    for group, at in until.items():
        chosen |= lost & (stored.groups == group) & (stored.offsets[:, LOST_AT] <= microseconds(at))
    after = stored.with_reason(chosen, UnknownReason.NEVER_COMMITTED)
    write(after.take(chosen), now)
    LossAcknowledgement.objects.filter(pk__in=[row.pk for row in waiting]).update(applied_at=now)
    return after
