"""Lost offsets that somebody has taken note of: from then on their queues count as never committed."""

from django.conf import settings
from django.db import models

from consumers.models.watched.group import ConsumerGroup


class LossAcknowledgement(models.Model):
    """Written by people, through pages and REST; `applied_at` by the next poll, which changes the snapshots."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="loss_acknowledgements")
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    by_name = models.CharField(max_length=150)
    queues = models.JSONField(help_text="[{topic, broker, queue_id, lost_offset, lost_at}] of what was lost by then")
    applied_at = models.DateTimeField(null=True, help_text="The reading that the queues count as never committed from")

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.group_id} by {self.by_name}"
