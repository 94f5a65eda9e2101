"""The oldest message that a member holds and has not finished, looked into where it has been that for long.

Written by the poll only. No body is kept.
"""

from django.db import models

from .group import ConsumerGroup
from .topic import Queue


class HeadMessage(models.Model):
    """`offset` is where the member's work on the queue stands, since `since`. A null has `error` beside it."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="heads")
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="heads")
    client_id = models.CharField(max_length=255)
    offset = models.BigIntegerField()
    since = models.DateTimeField(help_text="The first reading that saw it as the oldest one held")
    message_id = models.CharField(max_length=255, null=True)
    origin_topic = models.CharField(max_length=255, null=True, help_text="Of a retried message, the topic it came from")
    keys = models.TextField(null=True)
    tags = models.TextField(null=True)
    reconsume_times = models.IntegerField(null=True, help_text="As stored; tries on the spot do not count")
    size = models.IntegerField(null=True, help_text="Bytes of the stored body")
    born_at = models.DateTimeField(null=True)
    stored_at = models.DateTimeField(null=True)
    error = models.TextField(null=True)
    asked_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "queue", "client_id"], name="one_head_per_member_and_queue")
        ]

    def __str__(self) -> str:
        return f"{self.queue_id} at {self.offset}"
