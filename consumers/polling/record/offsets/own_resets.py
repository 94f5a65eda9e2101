"""Which queues a reset from here may have moved since they were last read: such a move is no consumption."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import numpy as np
from django.db.models import Q

from consumers.models import Cluster, Reset, ResetMethod, ResetQueue, ResetStatus, ResetStep
from consumers.polling.record.tables.ids import EntityIds

# Of these the broker may have been told.
TOLD = (ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED, ResetStep.READ_BACK)
# The clocks of workers differ a little, and members commit what a broker tells them some seconds later.
LEEWAY = timedelta(seconds=30)


def moved_by_resets(cluster: Cluster, ids: EntityIds, last_read: Mapping[str, datetime]) -> np.ndarray:
    """Keys (group id << 32 | queue id). `last_read`: when each broker was read before this reading.

    One query where no reset is being applied, or was lately.
    """
    if not last_read:
        return np.empty(0, np.int64)
    lately = Q(status=ResetStatus.APPLYING) | Q(finished_at__gte=min(last_read.values()) - LEEWAY)
    resets = dict(
        Reset.objects.filter(lately, group__cluster=cluster, started_at__isnull=False)
        .order_by()
        .values_list("pk", "group_id")
    )
    if not resets:
        return np.empty(0, np.int64)
    rows = ResetQueue.objects.filter(reset__in=list(resets), step__in=TOLD).exclude(method=ResetMethod.NOTHING)
    fields = ("reset_id", "topic", "broker", "queue_id", "step", "after_at", "reset__finished_at")
    found = []
    for reset, topic, broker, queue_id, step, after_at, finished_at in rows.order_by().values_list(*fields).iterator():
        queue, read_at = ids.queues.get((topic, broker, queue_id)), last_read.get(broker)
        until = after_at if step == ResetStep.READ_BACK and after_at is not None else finished_at
        # What was read at its target before moves on from there by itself.
        if queue is not None and read_at is not None and (until is None or until >= read_at - LEEWAY):
            found.append(resets[reset] << 32 | queue)
    return np.array(found, np.int64)
