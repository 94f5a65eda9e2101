"""Delay levels and offset files, as the poll found them last."""

from django.db import models

from consumers.models.clusters import Cluster
from consumers.models.groups import ConsumerGroup


# Messages that wait for a delay to pass, failed ones among them. Written by the poll only; times are the broker's.
#
# What waits of a group is known from a sample: a level's messages are of all groups, and are not counted by group.
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


# Offset files as they were last found. Written by the poll only; their offsets stand in the lake.
class OffsetFileKind(models.TextChoices):
    BROKER_FILE = "broker_file"
    DELAY_FILE = "delay_file"
    CONSUMER_FILE = "consumer_file"


class OffsetFile(models.Model):
    """One file. `read_at` is the `taken_at` of its rows in the lake; null: it was never read, `error` says why.

    A glob that gives nothing, or too much, has a row of its own with its error; `path` is then the glob.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=1000)
    kind = models.CharField(
        max_length=20, null=True, choices=OffsetFileKind, help_text="Null where neither name nor content tells"
    )
    broker = models.CharField(max_length=255, null=True, help_text="Null where neither path nor content tells")
    client_id = models.CharField(max_length=255, null=True)
    group_name = models.CharField(max_length=255, null=True)
    modified_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    rows = models.IntegerField(null=True)
    from_backup = models.BooleanField(default=False)
    findings = models.JSONField(default=list, help_text="[{code, where, params}]")
    error = models.TextField(null=True, help_text="Why it was not read: {code, params} as JSON")

    class Meta:
        ordering = ["cluster", "path"]
        constraints = [models.UniqueConstraint(fields=["cluster", "path"], name="one_row_per_offset_file")]

    def __str__(self) -> str:
        return self.path
