"""What the pipeline judged. Written by the pipeline only; `judged_at` is the end of the judged range."""

from django.db import models

from consumers.models.watched.group import ConsumerGroup
from consumers.models.watched.topic import Queue
from consumers.vocabulary.states import State

STATES = [(state.value, state.value.title()) for state in State]


class TimeLagKind(models.TextChoices):
    EXACT = "exact"
    INTERPOLATED = "interpolated"
    AT_LEAST = "at_least"
    UNKNOWN = "unknown"


class QueueState(models.Model):
    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="queue_states")
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="states")
    state = models.CharField(max_length=10, choices=STATES)
    rule = models.CharField(max_length=60, help_text="The code of the rule that decided")
    detail = models.JSONField(default=dict, help_text="The numbers that the rule looked at")
    since = models.DateTimeField()
    provisional = models.BooleanField(default=False)
    time_lag_seconds = models.FloatField(null=True)
    time_lag_kind = models.CharField(max_length=12, choices=TimeLagKind)
    time_lag_error_seconds = models.FloatField(null=True)
    judged_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "queue"], name="one_state_per_group_and_queue")]


class GroupState(models.Model):
    """The worst queue of a group's own topics, with the group's rates."""

    group = models.OneToOneField(ConsumerGroup, on_delete=models.CASCADE, primary_key=True, related_name="judged")
    state = models.CharField(max_length=10, choices=STATES)
    rule = models.CharField(max_length=60)
    detail = models.JSONField(default=dict)
    since = models.DateTimeField()
    completeness = models.FloatField(help_text="Share of the group's queues that were judged on a full window, 0 to 1")
    worst_queue = models.ForeignKey(Queue, on_delete=models.SET_NULL, null=True, related_name="+")
    time_lag_seconds = models.FloatField(null=True)
    time_lag_kind = models.CharField(max_length=12, choices=TimeLagKind)
    consume_rate = models.FloatField(null=True, help_text="Messages per second")
    produce_rate = models.FloatField(null=True, help_text="Messages per second")
    drain_seconds = models.FloatField(null=True)
    retry_rate = models.FloatField(null=True, help_text="Messages per second into the retry topic")
    retry_share = models.FloatField(null=True, help_text="Redeliveries per message consumed, over the last hour")
    dlq_day_messages = models.BigIntegerField(null=True, help_text="Into its dead-letter topic in 24 hours")
    volumes_unknown = models.JSONField(default=dict, help_text="{field: reason} of those two that are null")
    dlq_day_messages_at_least = models.BigIntegerField(null=True, help_text="The part of them that is known")
    dlq_day_since = models.DateTimeField(null=True, help_text="When that part begins, where the day begins before it")
    retry_share_known = models.FloatField(null=True, help_text="The share over the part of the hour that is known")
    retry_share_since = models.DateTimeField(null=True, help_text="When that part begins, if later than the hour")
    usual_gap_seconds = models.FloatField(
        null=True, help_text="The 95th percentile of the time between two moves of its queues while behind"
    )
    last_rebalance_at = models.DateTimeField(null=True, help_text="The reading that saw its newest rebalance")
    usual_gap_at = models.DateTimeField(null=True, help_text="When that was last looked for")
    judged_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["state"])]


class StateChange(models.Model):
    """A group went from one state to another."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="state_changes")
    at = models.DateTimeField()
    before = models.CharField(max_length=10, choices=STATES, null=True)
    after = models.CharField(max_length=10, choices=STATES)
    rule = models.CharField(max_length=60)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at"]
        constraints = [models.UniqueConstraint(fields=["group", "at"], name="one_state_change_at_a_time")]
