"""Aggregated windows of a group. Written by the pipeline only; windows per queue are in the lake."""

from django.db import models

from consumers.models.watched.cluster import Cluster
from consumers.models.watched.group import ConsumerGroup


class GroupWindow(models.Model):
    """What one window of `step_seconds` from `start` saw. Lag and time lag are those of its last reading."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="windows")
    step_seconds = models.IntegerField()
    start = models.DateTimeField()
    lag_messages = models.BigIntegerField(null=True)
    time_lag_seconds = models.FloatField(null=True)
    consume_rate = models.FloatField(null=True)
    produce_rate = models.FloatField(null=True)
    readings = models.IntegerField()
    unknown_reason = models.TextField(null=True)
    into_retry = models.BigIntegerField(null=True, help_text="Messages; one for each redelivery")
    out_of_retry = models.BigIntegerField(null=True)
    into_dlq = models.BigIntegerField(null=True)
    consumed = models.BigIntegerField(null=True, help_text="Messages of its own topics")
    volumes_unknown = models.JSONField(default=dict, help_text="{field: reason} of those four that are null")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "step_seconds", "start"], name="one_row_per_window")]
        indexes = [
            models.Index(fields=["step_seconds", "start"]),
            # Few windows have any: which groups lost messages of late is found without the others.
            models.Index(
                fields=["step_seconds", "start"], condition=models.Q(into_dlq__gt=0), name="windows_with_dead_letters"
            ),
        ]


class DueWindow(models.Model):
    """A span of an hour or a day whose windows, of a cluster's queues and groups, are to be made from finer ones.

    Written before any of the finer ones is, and deleted after the wide ones are made: a worker that dies forgets none.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="due_windows")
    step_seconds = models.IntegerField()
    start = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "step_seconds", "start"], name="one_row_per_due_window")
        ]
