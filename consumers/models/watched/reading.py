"""The record of what was done: readings of clusters and runs of the pipeline, with cost and failures."""

from django.db import models

from .cluster import Cluster


class Reading(models.Model):
    """One poll of one cluster. `complete` is true when every broker was read whole."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="readings")
    taken_at = models.DateTimeField()
    complete = models.BooleanField()
    brokers = models.JSONField(default=list, help_text="[{name, read, error}]")
    error = models.TextField(null=True, help_text="Why the list of brokers, or anything at all, was not read")
    queues = models.IntegerField()
    calls = models.IntegerField()
    bytes = models.BigIntegerField()
    seconds = models.FloatField()
    record_seconds = models.FloatField(null=True)
    members = models.JSONField(default=dict, help_text="{groups_read, clients_read, calls, seconds}")

    class Meta:
        ordering = ["-taken_at"]
        constraints = [models.UniqueConstraint(fields=["cluster", "taken_at"], name="one_reading_at_a_time")]


class PipelineRun(models.Model):
    """One run of the pipeline over [since, until). `error` is null when it succeeded, `finished_at` while it runs."""

    since = models.DateTimeField()
    until = models.DateTimeField()
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    seconds = models.FloatField(null=True)
    queues_judged = models.IntegerField(null=True)
    groups_judged = models.IntegerField(null=True)
    error = models.TextField(null=True)
    newest_reading = models.BigIntegerField(null=True, help_text="The key of the newest reading that it knew of")
    skipped = models.BooleanField(default=False, help_text="Nothing was done, as there was no new reading")

    class Meta:
        ordering = ["-started_at"]
