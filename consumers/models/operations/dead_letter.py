"""Dead letters of groups, without their bodies. Written by the general worker's looks into `%DLQ%` topics only.

A look adds what came since the last one; messages that are gone from the broker are taken out.
"""

from django.db import models

from consumers.models.watched.group import ConsumerGroup


class DeadLetter(models.Model):
    """One message of a group's dead-letter topic. Null is: the message does not say."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="dead_letters")
    broker = models.CharField(max_length=255)
    queue_id = models.IntegerField()
    offset = models.BigIntegerField()
    stored_id = models.CharField(max_length=64, help_text="Where it is stored: address of the broker and offset there")
    message_id = models.CharField(max_length=255, null=True, help_text="Its producer's, the same at every attempt")
    origin_topic = models.CharField(max_length=255, null=True)
    origin_message_id = models.CharField(max_length=255, null=True)
    keys = models.TextField(null=True)
    tags = models.TextField(null=True)
    reconsume_times = models.IntegerField()
    born_at = models.DateTimeField()
    stored_at = models.DateTimeField()
    size = models.IntegerField(help_text="Bytes of the stored body")
    sent_by_application = models.BooleanField(
        null=True, help_text="It died before its retries were used up; null where how many it had is not known"
    )
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "broker", "queue_id", "offset"], name="one_row_per_dead_letter")
        ]
        indexes = [models.Index(fields=["group", "stored_at"])]
        permissions = [("view_message_body", "Can see the bodies of messages")]

    def __str__(self) -> str:
        return f"{self.group_id}: {self.broker}/{self.queue_id} at {self.offset}"


class DeadLetterLook(models.Model):
    """Which part [indexed_from, indexed_to) of a dead-letter queue has rows, as of `looked_at`."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="dead_letter_looks")
    broker = models.CharField(max_length=255)
    queue_id = models.IntegerField()
    indexed_from = models.BigIntegerField(null=True)
    indexed_to = models.BigIntegerField(null=True)
    min_offset = models.BigIntegerField(null=True)
    broker_offset = models.BigIntegerField(null=True)
    looked_at = models.DateTimeField()
    error = models.TextField(null=True, help_text="Why the newest look failed")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "broker", "queue_id"], name="one_look_per_dead_letter_queue")
        ]

    def __str__(self) -> str:
        return f"{self.group_id}: {self.broker}/{self.queue_id}"
