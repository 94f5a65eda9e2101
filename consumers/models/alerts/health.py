"""What was found of each group beside its state, noted for lists. Written by the health task of the general worker."""

from django.db import models

from consumers.models.watched.group import ConsumerGroup


class HealthLevel(models.TextChoices):
    """Worst first. UNKNOWN: nothing wrong was found, and not everything that health looks at is known."""

    CRITICAL = "critical"
    WARNING = "warning"
    UNKNOWN = "unknown"
    OK = "ok"


class GroupHealth(models.Model):
    """`level` is the worst of `reasons`, and `ok` without one. The group's state has no part in it: lists add the state
    that they show.

    Dead letters, blocked queues and rebalances are looked at for all groups at once (`noted_at`); ownership and retry
    health checks of some groups at a time (`checked_at`, null before the first).
    """

    group = models.OneToOneField(ConsumerGroup, on_delete=models.CASCADE, primary_key=True, related_name="health")
    level = models.CharField(max_length=10, choices=HealthLevel)
    noticed = models.JSONField(default=list, help_text="[{code, level, parameters}] as of `noted_at`")
    checked = models.JSONField(default=list, help_text="The same as of `checked_at`")
    noted_at = models.DateTimeField()
    checked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.group_id}: {self.level}"
