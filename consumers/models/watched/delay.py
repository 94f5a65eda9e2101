"""Messages that wait for a delay to pass, failed ones among them. Written by the poll only; times are the broker's.

What waits of a group is known from a sample: a level's messages are of all groups, and are not counted by group.
"""

from django.db import models

from .cluster import Cluster
from .group import ConsumerGroup


class DelayLevel(models.Model):
    """One delay level of one broker, as of `read_at`. Its backlog is `broker_offset` − `delay_offset`.

    `looked_at` of those waiting at `sampled_at` were looked into, of `sampled_of` that waited then.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="delay_levels")
    broker = models.CharField(max_length=255)
    level = models.IntegerField()
    delay_offset = models.BigIntegerField(null=True, help_text="Up to which its messages were delivered")
    broker_offset = models.BigIntegerField(null=True)
    next_due_at = models.DateTimeField(null=True, help_text="When the first one waiting is due; null: none, or error")
    next_error = models.TextField(null=True)
    read_at = models.DateTimeField()
    looked_at = models.IntegerField(null=True)
    sampled_of = models.BigIntegerField(null=True)
    sampled_at = models.DateTimeField(null=True)
    sample_error = models.TextField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "broker", "level"], name="one_row_per_delay_level")]

    def __str__(self) -> str:
        return f"{self.broker}: level {self.level}"


class Rung(models.Model):
    """What of a group was among the messages of one delay level of one broker that were looked into."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="rungs")
    broker = models.CharField(max_length=255)
    level = models.IntegerField()
    messages = models.IntegerField()
    attempts = models.JSONField(default=dict, help_text="{reconsume times: messages}: which retry they wait for")
    oldest_stored_at = models.DateTimeField(help_text="Since when the longest waiting one waits")
    next_due_at = models.DateTimeField(null=True)
    sampled_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "broker", "level"], name="one_rung_per_group_and_level")
        ]

    def __str__(self) -> str:
        return f"{self.group_id} on {self.broker}: level {self.level}"
