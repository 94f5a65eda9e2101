"""Offset resets, queue by queue, and acknowledged losses. Never deleted: they are the audit."""

import uuid

from django.conf import settings
from django.db import models

from consumers.models.groups import ConsumerGroup
from consumers.models.site import AppendOnly


# Offset resets: what was wanted, planned, done and read back, queue by queue. Never deleted: they are the audit.
#
# Written by `consumers.resets` only. A group that is removed leaves its resets behind, under the names they bear.
class ResetKind(models.TextChoices):
    """What `value` of a reset is, by kind."""

    EARLIEST = "earliest"  # null
    LATEST = "latest"  # null
    TIME = "time"  # ISO 8601: to the first message stored then or later
    OFFSET = "offset"  # a number, the same for every chosen queue
    SHIFT = "shift"  # messages, back where below 0
    SKIP_OLDER = "skip_older"  # seconds: messages older than that are skipped; no queue goes back
    COPY = "copy"  # the name of another group of the cluster
    MOMENT = "moment"  # ISO 8601: to where the group itself stood then
    OFFSETS = "offsets"  # [{topic, broker, queue_id, offset}]
    RESTORE = "restore"  # the id of the reset whose `before` it returns to


class ResetStatus(models.TextChoices):
    PLANNING = "planning"  # the general worker is asked to ask the brokers
    REFUSED = "refused"  # no plan: `error` says why
    PLANNED = "planned"
    APPLYING = "applying"  # being written or read back
    APPLIED = "applied"  # every queue that was to move is confirmed, or stood there already
    PARTIAL = "partial"  # some queues are not confirmed
    FAILED = "failed"  # no queue is known to have moved
    EXPIRED = "expired"  # planned, and not applied in time
    CANCELLED = "cancelled"  # a plan that was given up


class ResetMethod(models.TextChoices):
    """How a broker is told. RocketMQ's request codes, see docs/resets.md."""

    SERVER = "server_side"  # 222 with one queue and one offset: the broker moves it, whoever is connected
    CLIENT = "client_side"  # 222 by time, for all queues of the topic there: the broker tells every member
    COMMIT = "commit"  # 15: a commit like a member's, for groups without one
    NOTHING = "nothing"  # it stands there already: nothing is written


class ResetStep(models.TextChoices):
    PLANNED = "planned"
    WRITING = "writing"  # noted before the broker is told, so that a worker that dies leaves a trace
    WRITTEN = "written"  # the broker answered that it did it; what is true, reading back tells
    UNANSWERED = "unanswered"  # it may have done it
    FAILED = "failed"  # it refused, or was not reached: nothing was changed
    NOT_DONE = "not done"  # the reset ended before its turn
    READ_BACK = "read back"  # `outcome` stands


class ResetOutcome(models.TextChoices):
    CONFIRMED = "CONFIRMED"  # it was read at its target, or moving on from there
    UNCHANGED = "UNCHANGED"  # it stands, or moves on, where it was
    OVERWRITTEN = "OVERWRITTEN"  # somebody committed another offset over it
    UNKNOWN = "UNKNOWN"  # it could not be read for long enough, or what was read can mean either


class Reset(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    group = models.ForeignKey(ConsumerGroup, on_delete=models.SET_NULL, null=True, related_name="resets")
    cluster_name = models.CharField(max_length=100)
    group_name = models.CharField(max_length=255)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="resets")
    by_name = models.CharField(max_length=150, help_text="As the user was called then")
    reason = models.TextField()

    kind = models.CharField(max_length=40, help_text="A code of ResetKind")
    value = models.JSONField(null=True)
    topics = models.JSONField(null=True, help_text="[name]; null: the group's own topics, without its retry topic")
    brokers = models.JSONField(null=True, help_text="[name]; null: all")
    queues = models.JSONField(null=True, help_text="[{topic, broker, queue_id}]; null: all of these topics and brokers")
    clip = models.BooleanField(default=False, help_text="Targets outside min..max are moved to its nearer end")
    restores = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="restored_by")

    status = models.CharField(max_length=10, choices=ResetStatus)
    created_at = models.DateTimeField()
    planned_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True, help_text="A plan that is not applied by then is void")
    applied_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    applied_by_name = models.CharField(max_length=150, null=True)
    started_at = models.DateTimeField(null=True)
    working_at = models.DateTimeField(null=True, help_text="When its worker was last seen to work on it")
    finished_at = models.DateTimeField(null=True)

    seen = models.JSONField(
        null=True,
        help_text="What the plan saw: {members: [client id], orderly, message_model, consume_type, brokers: {name: "
        "{version, server_side, permission}}}; null where it could not be told",
    )
    warnings = models.JSONField(default=list, help_text="[stored reason]: what will happen, and to whom")
    moved = models.JSONField(
        null=True,
        help_text="[stored reason]: what had moved since the plan, so that it stopped",
    )
    error = models.TextField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["status"]),
            models.Index(fields=["group", "-created_at"]),
            models.Index(fields=["started_at"]),
        ]
        permissions = [("reset_offsets", "Can plan and apply offset resets")]

    def __str__(self) -> str:
        return f"{self.cluster_name}/{self.group_name} at {self.created_at:%Y-%m-%d %H:%M:%S}"

    @property
    def title(self) -> str:
        """As lists of what was done say it."""
        return f"{self.group_name}: {self.reason}"


class ResetQueue(models.Model):
    """One queue of a reset: what the plan says of it, and what became of it. Reasons are codes with their values, see
    consumers/vocabulary/reasons.py, or the words of a broker.

    A queue with `left_out` is not touched: it was chosen, and this says why it cannot be. What could not be read is
    null; `unknown` says why, by field.
    """

    reset = models.ForeignKey(Reset, on_delete=models.CASCADE, related_name="queues_of_it")
    topic = models.CharField(max_length=255)
    broker = models.CharField(max_length=255)
    queue_id = models.IntegerField()

    min_offset = models.BigIntegerField(null=True)
    max_offset = models.BigIntegerField(null=True)
    now_offset = models.BigIntegerField(null=True, help_text="Where it stood at the plan; null: it had no commit")
    wanted = models.BigIntegerField(null=True, help_text="The target before it was clipped")
    target = models.BigIntegerField(null=True)
    clipped = models.BooleanField(default=False)
    target_time = models.DateTimeField(null=True, help_text="When the first message that will be consumed was stored")
    replayed_messages = models.BigIntegerField(null=True)
    skipped_messages = models.BigIntegerField(null=True)
    restorable = models.BooleanField(default=False, help_text="False: no call takes away an offset that was set")
    method = models.CharField(max_length=12, choices=ResetMethod, null=True)
    left_out = models.TextField(null=True)
    unknown = models.JSONField(default=dict, help_text="{field: why it is null}")

    step = models.CharField(max_length=10, choices=ResetStep, default=ResetStep.PLANNED)
    before = models.BigIntegerField(null=True, help_text="Where it stood right before it was written")
    before_at = models.DateTimeField(null=True)
    written_at = models.DateTimeField(null=True)
    answered = models.BigIntegerField(null=True, help_text="The offset that the broker's answer named")
    error = models.TextField(null=True)
    readings = models.JSONField(default=list, help_text="[[time, offset]] read back, each that differs from the last")
    after = models.BigIntegerField(null=True)
    after_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=12, choices=ResetOutcome, null=True)
    evidence = models.TextField(null=True)

    class Meta:
        ordering = ["topic", "broker", "queue_id"]
        constraints = [
            models.UniqueConstraint(
                fields=["reset", "topic", "broker", "queue_id"], name="one_row_per_queue_of_a_reset"
            )
        ]
        indexes = [models.Index(fields=["reset", "step"])]

    def __str__(self) -> str:
        return f"{self.topic}/{self.broker}/{self.queue_id}"

    @property
    def moved_to(self) -> int | None:
        """Of members that are told a time their broker says where they go, and not the plan."""
        return self.target if self.answered is None else self.answered


class ResetEvent(AppendOnly):
    """One act around a reset."""

    reset = models.ForeignKey(Reset, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    by_name = models.CharField(max_length=150, null=True, help_text="Null: a worker")
    address = models.CharField(max_length=64, null=True, help_text="Where the request came from; null: a worker")
    via = models.CharField(max_length=10, help_text="page, rest or worker")
    sentence = models.TextField(help_text="What was done: a code of ResetAct with its values")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S}"


# Lost offsets that somebody has taken note of: from then on their queues count as never committed.
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
