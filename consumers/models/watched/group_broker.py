"""How one broker configures a group, and what it lets into the group's retry and dead-letter topics.

Written by the poll only. A broker that does not know the group has a row with `configured` false once it was asked.
"""

from django.db import models

from .group import ConsumerGroup


class GroupBroker(models.Model):
    """Null is: the broker does not say, or has no such group or topic."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="configs")
    broker = models.CharField(max_length=255)
    configured = models.BooleanField()
    consume_enable = models.BooleanField(null=True)
    broadcast_enable = models.BooleanField(null=True)
    orderly = models.BooleanField(null=True)
    retry_max_times = models.IntegerField(null=True)
    retry_queue_nums = models.IntegerField(null=True)
    consume_timeout_minutes = models.IntegerField(null=True)
    retry_policy = models.JSONField(null=True, help_text="{kind, delays_ms, initial_ms, max_ms, multiplier}: POP only")
    retry_permissions = models.JSONField(
        default=dict, help_text="{topic: a sum of 4 (read) and 2 (write)} of the group's retry topics on this broker"
    )
    retry_read_queues = models.IntegerField(
        null=True, help_text="Of how many queues its own retry topic gives messages there; null: it has none"
    )
    dlq_permission = models.IntegerField(null=True, help_text="The same of its dead-letter topic; null: it has none")
    changed_at = models.DateTimeField(help_text="The reading that saw it become so")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "broker"], name="one_config_per_group_and_broker")]

    def __str__(self) -> str:
        return f"{self.group_id} on {self.broker}"
