"""Offset files as they were last found. Written by the poll only; their offsets stand in the lake."""

from django.db import models

from .cluster import Cluster


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
    findings = models.JSONField(default=list, help_text="[{name, where, sentence}]")
    error = models.TextField(null=True)

    class Meta:
        ordering = ["cluster", "path"]
        constraints = [models.UniqueConstraint(fields=["cluster", "path"], name="one_row_per_offset_file")]

    def __str__(self) -> str:
        return self.path
