"""What a rule would have done over stored history: asked for by people, answered by a worker."""

import uuid

from django.conf import settings
from django.db import models


class PreviewStatus(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # `error` says why
    CANCELLED = "cancelled"


UNFINISHED_PREVIEWS = (PreviewStatus.WAITING, PreviewStatus.RUNNING)


class RulePreview(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    rule = models.JSONField(help_text="The rule as it was asked about, stored or not")
    since = models.DateTimeField()
    until = models.DateTimeField()
    status = models.CharField(max_length=9, choices=PreviewStatus)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, help_text="When a worker took it up; null: none has yet")
    finished_at = models.DateTimeField(null=True)
    cancelled_by_name = models.CharField(max_length=150, null=True, help_text="Null: nobody cancelled it")
    seconds = models.FloatField(null=True)
    result = models.JSONField(null=True, help_text="See consumers.alerts.preview")
    error = models.TextField(null=True)

    class Meta:
        ordering = ["-created_at"]
