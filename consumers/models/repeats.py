"""Repeats: messages that a group consumed again, by cause. Written by the pipeline only."""

from django.db import models

from consumers.models.groups import ConsumerGroup


class RepeatEvent(models.Model):
    """One event of a group and cause. Null is not known; why stands in `unknown` as a code, by the field's name.

    Numbers count offsets: where a tag filter drops messages between them, fewer come again.
    """

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="repeats")
    cause = models.CharField(max_length=40, help_text="A code of RepeatCause")
    source = models.CharField(max_length=20, help_text="A code of RepeatSource: where it was found")
    confidence = models.CharField(max_length=10, help_text="A code of Confidence")
    began_after = models.DateTimeField(null=True, help_text="The last reading before it")
    started_at = models.DateTimeField(help_text="The first reading that shows it")
    last_at = models.DateTimeField(help_text="The last reading that shows more of it")
    queues = models.IntegerField(help_text="How many queues had messages redelivered")
    messages_low = models.BigIntegerField(null=True, help_text="Messages redelivered, at least")
    messages_high = models.BigIntegerField(null=True, help_text="Messages redelivered, at most")
    evidence = models.JSONField(default=list, help_text="[{code, …parameters}]")
    parts = models.JSONField(
        default=list,
        help_text="[{at_us, after_us, topic, broker, queue_id, from_offset, until_offset, low, high, confidence, "
        "unknown, evidence}] of each queue, or of each minute of retries; offsets are half-open",
    )
    unknown = models.JSONField(default=dict, help_text="{field: code of RepeatUnknown}")
    judged_at = models.DateTimeField()

    class Meta:
        ordering = ["-started_at", "group"]
        constraints = [
            models.UniqueConstraint(fields=["group", "cause", "started_at"], name="one_repeat_per_cause_and_time")
        ]
        indexes = [
            models.Index(fields=["started_at", "group", "cause", "last_at"], name="repeats_by_time"),
            models.Index(fields=["source", "last_at"], name="repeats_by_source"),
        ]

    def __str__(self) -> str:
        return f"{self.group} at {self.started_at:%Y-%m-%d %H:%M:%S}: {self.cause}"
