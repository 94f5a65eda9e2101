"""What a rule would have done over stored history: asked for by people, answered by the Spark worker."""

import uuid

from django.conf import settings
from django.db import models


class PreviewStatus(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # `error` says why


class RulePreview(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    rule = models.JSONField(help_text="The rule as it was asked about, stored or not")
    since = models.DateTimeField()
    until = models.DateTimeField()
    status = models.CharField(max_length=7, choices=PreviewStatus)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    seconds = models.FloatField(null=True)
    result = models.JSONField(null=True, help_text="See consumers.alerts.preview")
    error = models.TextField(null=True)

    class Meta:
        ordering = ["-created_at"]
