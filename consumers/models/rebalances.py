"""Rebalances of groups, found by polling: each lies between two readings. Written by the pipeline only."""

from django.db import models

from consumers.models.groups import ConsumerGroup


class Rebalance(models.Model):
    """What happened to a group's members and their queues until two readings in a row agreed.

    Null is not known; why stands in `unknown`, by the field's name.
    """

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="rebalances")
    started_after = models.DateTimeField(null=True, help_text="The last reading before it")
    started_before = models.DateTimeField(help_text="The first reading that saw a change")
    last_change_at = models.DateTimeField(help_text="The last reading that saw a change")
    settled_at = models.DateTimeField(null=True, help_text="The first of two readings in a row that agree")
    dated_at = models.DateTimeField(
        null=True, help_text="By the members' own clocks, where that lies between the two readings"
    )
    polls = models.IntegerField(help_text="Readings of the group from the first change to the settled end")
    cause = models.CharField(max_length=200, help_text="The codes of all causes, the first to be named first")
    evidence = models.JSONField(default=list, help_text="[{cause, …}]: what each cause was told by")
    members_before = models.IntegerField(null=True)
    members_after = models.IntegerField(null=True)
    client_ids_before = models.JSONField(null=True)
    client_ids_after = models.JSONField(null=True)
    rollout = models.BooleanField(default=False, help_text="Every member after it has started during its episode")
    episode_since = models.DateTimeField(
        help_text="`started_before` of the first of the rebalances in a row with less than a minute between two"
    )
    unknown = models.JSONField(default=dict)
    judged_at = models.DateTimeField()

    class Meta:
        ordering = ["-started_before", "group"]
        constraints = [models.UniqueConstraint(fields=["group", "started_before"], name="one_rebalance_at_a_time")]
        indexes = [
            # Lists over all groups are counted out of it, without the rows.
            models.Index(
                fields=[
                    "started_before",
                    "group",
                    "episode_since",
                    "last_change_at",
                    "settled_at",
                    "cause",
                    "rollout",
                ],
                name="rebalances_by_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.group} at {self.started_before:%Y-%m-%d %H:%M:%S}"


class RebalanceTopic(models.Model):
    """What a rebalance did to the queues of one topic; `%RETRY%` topics have no row. Its numbers are in NUMBERS."""

    NUMBERS = (
        "queues",
        "queues_moved",
        "unowned_queue_seconds",
        "doubly_owned_queue_seconds",
        "doubly_owned_queues",
        "replayed_messages_low",
        "replayed_messages",
        "lag_before_messages",
        "lag_peak_messages",
    )

    rebalance = models.ForeignKey(Rebalance, on_delete=models.CASCADE, related_name="topics")
    topic = models.CharField(max_length=255)
    queues = models.IntegerField(null=True)
    queues_moved = models.IntegerField(null=True)
    unowned_queue_seconds = models.FloatField(null=True, help_text="Over all queues, as the readings sampled them")
    doubly_owned_queue_seconds = models.FloatField(null=True)
    doubly_owned_queues = models.IntegerField(null=True)
    replayed_messages_low = models.BigIntegerField(null=True)
    replayed_messages = models.BigIntegerField(null=True, help_text="The high bound")
    lag_before_messages = models.BigIntegerField(null=True)
    lag_peak_messages = models.BigIntegerField(null=True)
    moves = models.JSONField(
        default=list,
        help_text="[{broker, queue_id, before: [client id], after: [client id], unowned_seconds, "
        "doubly_owned_seconds, replayed_messages_low, replayed_messages}] of queues that moved, lapsed or doubled",
    )
    unknown = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rebalance", "topic"], name="one_row_per_rebalance_and_topic")]

    def __str__(self) -> str:
        return f"{self.rebalance}: {self.topic}"
