"""Findings over time. Written by the health task of the general worker only."""

from django.db import models
from django.db.models import Q

from consumers.models.clusters import Cluster
from consumers.models.groups import ConsumerGroup


class StoredFinding(models.Model):
    """What a check found, from `since` until `resolved_at`; words are made of `code` and `params`.

    A finding that could not be checked stays open, and its `last_seen_at` stays as it is.
    """

    identity = models.CharField(max_length=64, help_text="One for each code, subject and key")
    code = models.CharField(max_length=40, help_text="A FindingCode")
    severity = models.CharField(max_length=8, help_text="A FindingSeverity")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="findings")
    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, null=True, related_name="findings")
    group_name = models.CharField(max_length=255, default="")
    broker = models.CharField(max_length=255, default="")
    params = models.JSONField(default=dict)
    since = models.DateTimeField(help_text="As the check says; else when it was first found")
    last_seen_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["identity"], condition=Q(resolved_at=None), name="one_open_finding")
        ]
        indexes = [models.Index(fields=["resolved_at"], name="resolved_findings")]

    def __str__(self) -> str:
        return f"{self.code}: {self.group_name or self.broker}"
