"""Dead letters without their bodies, and resends. Written by the general worker only; resends are kept as audit."""

import uuid

from django.conf import settings
from django.db import models

from consumers.models.groups import ConsumerGroup


# Dead letters of groups, without their bodies. Written by the general worker's looks into `%DLQ%` topics only.
#
# A look adds what came since the last one; messages that are gone from the broker are taken out.
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


# Re-sends of dead letters: who wanted what, why, and what became of each message. Kept: they are the audit.
#
# Written by `consumers.dead_letters` only.
class ResendStatus(models.TextChoices):
    PLANNED = "planned"
    RUNNING = "running"
    DONE = "done"
    PARTIAL = "partial"  # ended with messages that were not sent, or of which that is not known
    FAILED = "failed"  # nothing was sent
    CANCELLED = "cancelled"
    EXPIRED = "expired"  # planned, and not started in time


class Destination(models.TextChoices):
    GROUP = "group"  # the group's retry topic: no other group sees it
    TOPIC = "topic"  # the topic it came from: every group of it gets it again


class Resend(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="resends")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="resends")
    by_name = models.CharField(max_length=150, help_text="As the user was called then")
    reason = models.TextField()
    destination = models.CharField(max_length=10, choices=Destination)
    again = models.BooleanField(default=False, help_text="Messages that were re-sent before are sent once more")
    selection = models.JSONField(help_text="What was chosen: {messages: [[broker, queue_id, offset]]} or a filter")
    rate_per_second = models.FloatField()
    status = models.CharField(max_length=10, choices=ResendStatus)
    cancel_wanted = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(help_text="A plan that is not started by then is void")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    started_by_name = models.CharField(max_length=150, null=True, help_text="As the user was called then")
    started_at = models.DateTimeField(null=True)
    working_at = models.DateTimeField(null=True, help_text="When its worker was last seen to work on it")
    finished_at = models.DateTimeField(null=True)
    error = models.TextField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["status"])]
        permissions = [("resend_dead_letters", "Can re-send dead letters")]

    @property
    def title(self) -> str:
        """As lists of what was done say it. Needs `group`."""
        return f"{self.group.name}: {self.reason}"

    def __str__(self) -> str:
        return f"{self.group_id} at {self.created_at:%Y-%m-%d %H:%M:%S}"


class ResendOutcome(models.TextChoices):
    PLANNED = "planned"
    SENDING = "sending"  # written before it is sent, so that a worker that dies leaves a trace
    SENT = "sent"
    FAILED = "failed"  # the broker refused it, or it could not be read: it was not sent
    UNKNOWN = "unknown"  # it may have been sent
    SKIPPED = "skipped"  # re-sent before, or gone
    CANCELLED = "cancelled"


class ResendItem(models.Model):
    """One message of a re-send: the dead letter, where it was to go, and what became of it.

    `floor_offset` is the end of the target queue before the message was sent: where to look for it afterwards.
    `dlq_floor_offset` is that of the DLQ at the target's broker, which may divert a message there; null: it does not.
    """

    resend = models.ForeignKey(Resend, on_delete=models.CASCADE, related_name="items")
    broker = models.CharField(max_length=255)
    queue_id = models.IntegerField()
    offset = models.BigIntegerField()
    stored_id = models.CharField(max_length=64)
    message_id = models.CharField(max_length=255, null=True)
    outcome = models.CharField(max_length=10, choices=ResendOutcome)
    at = models.DateTimeField(null=True)
    target_topic = models.CharField(max_length=255, null=True)
    target_broker = models.CharField(max_length=255, null=True)
    target_queue_id = models.IntegerField(null=True)
    floor_offset = models.BigIntegerField(null=True)
    dlq_floor_offset = models.BigIntegerField(null=True)
    target_offset = models.BigIntegerField(null=True)
    error = models.TextField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["resend", "broker", "queue_id", "offset"], name="one_item_per_dead_letter")
        ]
        indexes = [
            models.Index(fields=["resend", "outcome"]),
            models.Index(fields=["broker", "queue_id", "offset", "stored_id"]),
        ]

    def __str__(self) -> str:
        return f"{self.broker}/{self.queue_id} at {self.offset}"
