"""Consumer groups, how brokers configure them, and the newest reading of each queue. Written by the poll only."""

from django.db import models

from consumers.models.clusters import Cluster, Queue


# A consumer group: what it is, and who is in it. Written by the poll only.
#
# What was not read is null: `online` null means that not every broker of the group answered the question.
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
        # Charts begin where anything was read first: without an index every page would look at every group.
        indexes = [
            models.Index(fields=["kind", "name"]),
            models.Index(fields=["first_seen_at"]),
            models.Index(
                fields=["cluster"], condition=models.Q(membership_error__isnull=False), name="groups_unlisted"
            ),
        ]

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
    first_stored_us = models.BigIntegerField(
        null=True, help_text="The earliest of its queues with a lag; null while one of them has none"
    )
    retired_queues = models.IntegerField(default=0, help_text="Of topics that no member subscribes to: in no sum")
    dlq_messages = models.BigIntegerField(null=True)
    unknown_reason = models.TextField(null=True)
    last_good_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["lag_messages"])]


# How one broker configures a group, and what it lets into the group's retry and dead-letter topics.
#
# Written by the poll only. A broker that does not know the group has a row with `configured` false once it was asked.
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


class QueueSnapshot(models.Model):
    """The newest reading of each queue of each group. Written by the poll only, and only where it changed.

    A row's age is its broker's `last_read_at`; `changed_at` is when its numbers last moved.
    """

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="snapshots")
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="snapshots")
    consumer_offset = models.BigIntegerField(null=True, help_text="Null with the reason 'never committed' or another")
    broker_offset = models.BigIntegerField(null=True)
    min_offset = models.BigIntegerField(null=True)
    pull_offset = models.BigIntegerField(null=True)
    unknown_reason = models.TextField(null=True, help_text="Why the lag of this queue is not known")
    lost_offset = models.BigIntegerField(
        null=True, help_text="The last known consumer offset of a queue whose offset is gone from its broker"
    )
    lost_at = models.DateTimeField(null=True, help_text="The last reading that had that offset")
    waiting_since = models.DateTimeField(
        null=True, help_text="The first reading that had this consumer offset with a lag; null without one"
    )
    first_stored_us = models.BigIntegerField(
        null=True,
        help_text="When the first unconsumed message was stored, in microseconds since 1970: interpolated between two "
        "readings; null where they do not tell",
    )
    first_stored_error_us = models.BigIntegerField(null=True)
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "queue"], name="one_snapshot_per_group_and_queue")]
        # Few queues ever lose their offset: every run asks which did.
        indexes = [models.Index(fields=["group"], condition=models.Q(lost_at__isnull=False), name="lost_offsets")]

    def __str__(self) -> str:
        return f"{self.group_id}/{self.queue_id}"


# What is too dear to be asked at every reading: answers of brokers about single queues. Written by the poll only.
class QueueSample(models.Model):
    """A broker's answers about one queue of one group; `offset` is the consumer offset that they belong to.

    `first_stored_at`: when the first unconsumed message was stored, by the broker's clock. `start_offset`: where a
    member would start on a queue without an offset (`offset` null), by `start_rule`. A null has its error beside it.
    """

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="samples")
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="samples")
    offset = models.BigIntegerField(null=True)
    first_stored_at = models.DateTimeField(null=True)
    first_error = models.TextField(null=True)
    start_offset = models.BigIntegerField(null=True)
    start_rule = models.CharField(max_length=200, null=True)
    start_error = models.TextField(null=True)
    asked_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "queue"], name="one_sample_per_group_and_queue")]


class TagSample(models.Model):
    """How many of the next messages of a topic a group's tag expression lets through, from its consumer offset on."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="tag_samples")
    topic = models.CharField(max_length=255)
    expression = models.TextField()
    looked_at = models.IntegerField()
    matching = models.IntegerField()
    asked_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "topic"], name="one_tag_sample_per_group_and_topic")]
