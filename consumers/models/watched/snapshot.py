"""The newest reading of each queue of each group. Written by the poll only, and only where it changed.

A row's age is its broker's `last_read_at`; `changed_at` is when its numbers last moved.
"""

from django.db import models

from .group import ConsumerGroup
from .topic import Queue


class QueueSnapshot(models.Model):
    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="snapshots")
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="snapshots")
    consumer_offset = models.BigIntegerField(null=True, help_text="Null with the reason 'never committed' or another")
    broker_offset = models.BigIntegerField(null=True)
    min_offset = models.BigIntegerField(null=True)
    pull_offset = models.BigIntegerField(null=True)
    unknown_reason = models.TextField(null=True, help_text="Why the lag of this queue is not known")
    lost_offset = models.BigIntegerField(
        null=True, help_text="The last known consumer offset of a queue whose offset is gone from its broker"
    )
    lost_at = models.DateTimeField(null=True, help_text="The last reading that had that offset")
    waiting_since = models.DateTimeField(
        null=True, help_text="The first reading that had this consumer offset with a lag; null without one"
    )
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "queue"], name="one_snapshot_per_group_and_queue")]

    def __str__(self) -> str:
        return f"{self.group_id}/{self.queue_id}"
