"""Who did what, for good: an audit event outlives its user and whatever it is about.

Written by `consumers.jobs.audit`. Resets have events of their own, see `ResetEvent`.
"""

from django.db import models

from .append_only import AppendOnly


class AuditAction(models.TextChoices):
    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"
    SEEN = "seen"  # bodies of messages


class AuditEvent(AppendOnly):
    at = models.DateTimeField()
    by_name = models.CharField(max_length=150, help_text="As the user was called then")
    action = models.CharField(max_length=10, choices=AuditAction)
    subject_kind = models.CharField(max_length=100, help_text="The model of what it is about, as alertrule")
    subject_id = models.CharField(max_length=255, null=True, help_text="Null: it is no row")
    subject = models.CharField(max_length=200, help_text="As it was called then")
    sentence = models.TextField()

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["-at", "-id"]), models.Index(fields=["subject_kind", "subject_id"])]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.by_name}: {self.sentence}"
