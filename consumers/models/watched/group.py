"""A consumer group: what it is, and who is in it. Written by the poll only.

What was not read is null: `online` null means that not every broker of the group answered the question.
"""

from django.db import models

from .cluster import Cluster


class GroupKind(models.TextChoices):
    USER = "user"
    SYSTEM = "system"


class ConsumerGroup(models.Model):
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="groups")
    name = models.CharField(max_length=255)
    kind = models.CharField(max_length=10, choices=GroupKind)
    first_seen_at = models.DateTimeField()

    consume_enable = models.BooleanField(null=True)
    retry_max_times = models.IntegerField(null=True)
    retry_queue_nums = models.IntegerField(null=True)

    online = models.BooleanField(null=True)
    members = models.IntegerField(null=True)
    message_model = models.CharField(max_length=20, null=True)
    consume_type = models.CharField(max_length=30, null=True)
    consume_from_where = models.CharField(max_length=50, null=True)
    subscriptions = models.JSONField(default=list, help_text="[{topic, expression, expression_type}]")
    membership_at = models.DateTimeField(null=True, help_text="When every broker last answered who is in the group")
    membership_error = models.TextField(null=True)
    moved_at = models.DateTimeField(
        null=True, help_text="When it was last seen to consume: no reset, and no offset that somebody set"
    )
    moves_offline = models.PositiveIntegerField(
        default=0, help_text="Readings since offline_since that saw its offsets move, until that is consumption"
    )
    offline_since = models.DateTimeField(
        null=True, help_text="The first full answer of those in a row without a member"
    )
    presence = models.JSONField(default=dict, help_text="{day: [full answers, those without a member]}, of eight days")
    unsubscribed = models.JSONField(default=dict, help_text="{topic: since}: with offsets, but no member subscribes")
    sub_version = models.DateTimeField(
        null=True,
        help_text="By its members' clocks: the newest change of queues or subscriptions that a broker told of",
    )
    members_changed_at = models.DateTimeField(
        null=True, help_text="The reading that last saw its members, their queues or their subscriptions change"
    )
    settled_at = models.DateTimeField(
        null=True, help_text="The first of two whole readings in a row that agree since then; null while none do"
    )
    outside_store = models.CharField(max_length=255, null=True, help_text="Class of an offset store of its own")

    class Meta:
        ordering = ["cluster", "name"]
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="one_row_per_group")]
        indexes = [models.Index(fields=["kind", "name"])]

    def __str__(self) -> str:
        return self.name


class GroupTotal(models.Model):
    """The sums of a group's newest reading; rewritten only when one of them changes.

    `lag_messages` is null as soon as one queue of the group is unknown; `lag_messages_at_least` is then the known sum.
    `last_good_at` is null while the newest reading of the group was whole, else the time of the last whole one.
    """

    group = models.OneToOneField(ConsumerGroup, on_delete=models.CASCADE, primary_key=True, related_name="total")
    queues = models.IntegerField()
    unknown_queues = models.IntegerField(null=True, help_text="Null while a broker was never read: nobody knows")
    never_committed_queues = models.IntegerField()
    lost_queues = models.IntegerField(default=0, help_text="Whose offset was read before and is gone from its broker")
    lag_messages = models.BigIntegerField(null=True)
    lag_messages_at_least = models.BigIntegerField(null=True)
    expired_messages = models.BigIntegerField(null=True, help_text="Null while a min offset that matters is not known")
    retired_queues = models.IntegerField(default=0, help_text="Of topics that no member subscribes to: in no sum")
    dlq_messages = models.BigIntegerField(null=True)
    unknown_reason = models.TextField(null=True)
    last_good_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["lag_messages"])]
