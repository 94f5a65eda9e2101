"""Members of groups: queues they own, subscriptions, and their oldest unfinished messages. Written by the poll only."""

from collections.abc import Iterator
from typing import Any

from django.db import models

from .clusters import Queue
from .groups import ConsumerGroup


# Members of groups, the queues they were seen to own and what they subscribe to. Written by the poll only.
class Client(models.Model):
    """One member of one group. While `gone_by` is null it was in the newest full membership answer."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="clients")
    client_id = models.CharField(max_length=255)
    address = models.CharField(max_length=255)
    language = models.CharField(max_length=30)
    version = models.CharField(max_length=50, null=True)
    strategy = models.CharField(max_length=100, null=True)
    orderly = models.BooleanField(null=True)
    started_at = models.DateTimeField(null=True, help_text="The client's own start time, from its running info")
    subscriptions = models.JSONField(
        null=True, help_text="[{topic, expression, expression_type}], from its running info"
    )
    settings = models.JSONField(null=True, help_text="What it is set to, from its running info: {name: text}")
    pop_queues = models.JSONField(
        null=True, help_text="[{topic, broker, queue_id, wait_ack_count, last_pop_at}], from its running info"
    )
    seen_since = models.DateTimeField()
    last_seen = models.DateTimeField()
    gone_by = models.DateTimeField(null=True)
    running_info_at = models.DateTimeField(null=True)
    running_info_error = models.TextField(null=True)
    connections = models.JSONField(
        default=dict, help_text="{broker: [address]}: its connections, by the brokers that list it"
    )
    listed_since = models.DateTimeField(null=True, help_text="Since when these brokers, and no others, list it")
    duplicated_since = models.DateTimeField(
        null=True, help_text="Since when one broker lists two connections under this id: two processes share it"
    )
    sub_version = models.DateTimeField(
        null=True, help_text="By its own clock: when its queues or subscriptions last changed"
    )
    broker_assigned = models.JSONField(
        null=True, help_text="[{topic, broker, queue_id, mode}] that a broker gives it, where brokers share out queues"
    )
    broker_assigned_at = models.DateTimeField(null=True)
    consume_status = models.JSONField(
        null=True,
        help_text="{topic: {consume_ok_tps, consume_failed_tps, consume_failed_messages, consume_rt}} as it says",
    )

    class Meta:
        permissions = [("dump_threads", "Can take thread dumps of clients")]
        indexes = [
            models.Index(fields=["group", "gone_by"]),
            models.Index(fields=["group", "seen_since"]),
            models.Index(
                fields=["running_info_at"],
                condition=models.Q(gone_by=None, running_info_error__isnull=False),
                name="silent_clients",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["group", "client_id"], condition=models.Q(gone_by=None), name="one_present_row_per_client"
            )
        ]

    def __str__(self) -> str:
        return self.client_id


class MembershipGap(models.Model):
    """A time that is over, when the members of a group were not reported completely: between two complete answers.

    `is_listed`: brokers listed the members, but a member did not answer that had answered before.
    """

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="membership_gaps")
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    is_listed = models.BooleanField()

    class Meta:
        indexes = [models.Index(fields=["ended_at"])]

    def __str__(self) -> str:
        return f"{self.group_id} until {self.ended_at}"


class Assignment(models.Model):
    """An interval in which a client was seen to own a queue. `gone_by` null: it still did when last asked.

    What the client said of the queue stands beside it, as of `last_seen`: its offset in memory (null: it has none yet),
    and the span of messages that it holds (null: none).
    """

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="assignments")
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="assignments")
    client_id = models.CharField(max_length=255)
    seen_since = models.DateTimeField()
    last_seen = models.DateTimeField()
    gone_by = models.DateTimeField(null=True)
    commit_offset = models.BigIntegerField(null=True)
    cached_min = models.BigIntegerField(null=True)
    cached_max = models.BigIntegerField(null=True)
    cached_count = models.BigIntegerField(null=True)
    cached_mib = models.BigIntegerField(null=True, help_text="Whole MiB, rounded down")
    head_since = models.DateTimeField(null=True, help_text="Since when the oldest message that it holds is this one")
    locked = models.BooleanField(null=True)
    dropped = models.BooleanField(null=True)
    last_pull_at = models.DateTimeField(null=True)
    last_consume_at = models.DateTimeField(null=True)
    last_lock_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["group", "gone_by"]),
            models.Index(fields=["group", "seen_since"]),
            models.Index(
                fields=["head_since"], condition=models.Q(gone_by=None, head_since__isnull=False), name="standing_heads"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["group", "queue", "client_id"], condition=models.Q(gone_by=None), name="one_present_assignment"
            )
        ]


class ClientSubscription(models.Model):
    """An interval in which a client said that it subscribes to a topic so. Its group's own retry topic is left out.

    Another expression is another interval. `gone_by` null: it still did when last asked.
    """

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="client_subscriptions")
    client_id = models.CharField(max_length=255)
    topic = models.CharField(max_length=255)
    expression = models.TextField()
    expression_type = models.CharField(max_length=20, null=True)
    seen_since = models.DateTimeField()
    last_seen = models.DateTimeField()
    gone_by = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["group", "gone_by"]), models.Index(fields=["group", "seen_since"])]
        constraints = [
            models.UniqueConstraint(
                fields=["group", "client_id", "topic"],
                condition=models.Q(gone_by=None),
                name="one_present_subscription",
            )
        ]


# The oldest message that a member holds and has not finished, looked into where it has been that for long.
#
# Written by the poll only. No body is kept.
class HeadMessage(models.Model):
    """`offset` is where the member's work on the queue stands, since `since`. A null has `error` beside it."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="heads")
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="heads")
    client_id = models.CharField(max_length=255)
    offset = models.BigIntegerField()
    since = models.DateTimeField(help_text="The first reading that saw it as the oldest one held")
    message_id = models.CharField(max_length=255, null=True)
    origin_topic = models.CharField(max_length=255, null=True, help_text="Of a retried message, the topic it came from")
    keys = models.TextField(null=True)
    tags = models.TextField(null=True)
    reconsume_times = models.IntegerField(null=True, help_text="As stored; tries on the spot do not count")
    size = models.IntegerField(null=True, help_text="Bytes of the stored body")
    born_at = models.DateTimeField(null=True)
    stored_at = models.DateTimeField(null=True)
    error = models.TextField(null=True)
    asked_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "queue", "client_id"], name="one_head_per_member_and_queue")
        ]

    def __str__(self) -> str:
        return f"{self.queue_id} at {self.offset}"


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
    retry_moves = models.JSONField(
        default=list, help_text="[{topic, …}] as `moves` of a topic, of the queues of `%RETRY%` topics: pages hide them"
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

    def moves(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The topic and the move of every queue, those of `%RETRY%` topics included; with prefetched topics."""
        for topic in self.topics.all():
            yield from ((topic.topic, move) for move in topic.moves)
        yield from ((move["topic"], move) for move in self.retry_moves)


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
        "doubly_owned_seconds, replayed_messages_low, replayed_messages, replayed_from, replayed_until}] "
        "of queues that moved, lapsed or doubled",
    )
    unknown = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rebalance", "topic"], name="one_row_per_rebalance_and_topic")]

    def __str__(self) -> str:
        return f"{self.rebalance}: {self.topic}"
