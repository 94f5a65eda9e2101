"""What the pipeline evaluates: states, windows, sizes, repeats; and thresholds of groups, which people write."""

from django.core.validators import MinValueValidator
from django.db import models

from consumers.vocabulary.states import ExpiryForecast, State

from .clusters import Cluster, Queue
from .groups import ConsumerGroup

# What the pipeline judged. Written by the pipeline only; `judged_at` is the end of the judged range.
STATES = [(state.value, state.value.title()) for state in State]
FORECASTS = [(forecast.value, forecast.value.replace("_", " ").capitalize()) for forecast in ExpiryForecast]


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
    expires_unconsumed_seconds = models.FloatField(
        null=True, help_text="Until the time lag reaches the retention, at the pace at which it rises"
    )
    expiry_forecast = models.CharField(max_length=12, choices=FORECASTS, default=ExpiryForecast.UNKNOWN)
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


# Thresholds of one group that differ from those of the site. Written by people, in the admin pages.
class GroupThresholds(models.Model):
    """Null: as for every group. In seconds of time lag, never in messages."""

    group = models.OneToOneField(ConsumerGroup, on_delete=models.CASCADE, primary_key=True, related_name="thresholds")
    allowance_seconds = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="A time lag up to this is OK. Empty: CONSUMERSCOPE_ALLOWANCE_SECONDS",
    )
    behind_seconds = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="A time lag above this that does not drain is WARN. Empty: CONSUMERSCOPE_BEHIND_SECONDS",
    )

    class Meta:
        verbose_name = "thresholds of a group"
        verbose_name_plural = "thresholds of groups"

    def __str__(self) -> str:
        return str(self.group)


# Aggregated windows of a group. Written by the pipeline only; windows per queue are in the lake.
class GroupWindow(models.Model):
    """What one window of `step_seconds` from `start` saw. Lag and time lag are those of its last reading."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="windows")
    step_seconds = models.IntegerField()
    start = models.DateTimeField()
    lag_messages = models.BigIntegerField(null=True)
    time_lag_seconds = models.FloatField(null=True)
    consume_rate = models.FloatField(null=True)
    produce_rate = models.FloatField(null=True)
    readings = models.IntegerField()
    unknown_reason = models.TextField(null=True)
    into_retry = models.BigIntegerField(null=True, help_text="Messages; one for each redelivery")
    out_of_retry = models.BigIntegerField(null=True)
    into_dlq = models.BigIntegerField(null=True)
    consumed = models.BigIntegerField(null=True, help_text="Messages of its own topics")
    volumes_unknown = models.JSONField(default=dict, help_text="{field: reason} of those four that are null")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "step_seconds", "start"], name="one_row_per_window")]
        indexes = [
            models.Index(fields=["step_seconds", "start"]),
            # Few windows have any: which groups lost messages of late is found without the others.
            models.Index(
                fields=["step_seconds", "start"], condition=models.Q(into_dlq__gt=0), name="windows_with_dead_letters"
            ),
        ]


class DueWindow(models.Model):
    """A span of an hour or a day whose windows, of a cluster's queues and groups, are to be made from finer ones.

    Written before any of the finer ones is, and deleted after the wide ones are made: a worker that dies forgets none.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="due_windows")
    step_seconds = models.IntegerField()
    start = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "step_seconds", "start"], name="one_row_per_due_window")
        ]


# How much room the history takes, as upkeep measured it. Written by upkeep only: one row, replaced each time.
class HistorySize(models.Model):
    """`tables`: by cluster and table {"bytes", "days": {"2026-03-01": bytes}}; the days are whole ones, in UTC."""

    measured_at = models.DateTimeField()
    seconds = models.FloatField(help_text="How long the measuring took")
    free_bytes = models.BigIntegerField(null=True, help_text="On the lake's disk; null: it does not tell")
    tables = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.measured_at:%Y-%m-%d %H:%M}"


# Delay levels and offset files, as the poll found them last.


# Messages that wait for a delay to pass, failed ones among them. Written by the poll only; times are the broker's.
#
# What waits of a group is known from a sample: a level's messages are of all groups, and are not counted by group.
class DelayLevel(models.Model):
    """One delay level of one broker, as of `read_at`. Its backlog is `broker_offset` − `delay_offset`.

    `looked_at` of those waiting at `sampled_at` were looked into, of `sampled_of` that waited then.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="delay_levels")
    broker = models.CharField(max_length=255)
    level = models.IntegerField()
    delay_offset = models.BigIntegerField(null=True, help_text="Up to which its messages were delivered")
    broker_offset = models.BigIntegerField(null=True)
    next_due_at = models.DateTimeField(null=True, help_text="When the first one waiting is due; null: none, or error")
    next_error = models.TextField(null=True)
    read_at = models.DateTimeField()
    looked_at = models.IntegerField(null=True)
    sampled_of = models.BigIntegerField(null=True)
    sampled_at = models.DateTimeField(null=True)
    sample_error = models.TextField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "broker", "level"], name="one_row_per_delay_level")]

    def __str__(self) -> str:
        return f"{self.broker}: level {self.level}"


class Rung(models.Model):
    """What of a group was among the messages of one delay level of one broker that were looked into."""

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="rungs")
    broker = models.CharField(max_length=255)
    level = models.IntegerField()
    messages = models.IntegerField()
    attempts = models.JSONField(default=dict, help_text="{reconsume times: messages}: which retry they wait for")
    oldest_stored_at = models.DateTimeField(help_text="Since when the longest waiting one waits")
    next_due_at = models.DateTimeField(null=True)
    sampled_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "broker", "level"], name="one_rung_per_group_and_level")
        ]

    def __str__(self) -> str:
        return f"{self.group_id} on {self.broker}: level {self.level}"


# Offset files as they were last found. Written by the poll only; their offsets stand in the lake.
class OffsetFileKind(models.TextChoices):
    BROKER_FILE = "broker_file"
    DELAY_FILE = "delay_file"
    CONSUMER_FILE = "consumer_file"


class OffsetFile(models.Model):
    """One file. `read_at` is the `taken_at` of its rows in the lake; null: it was never read, `error` says why.

    A glob that gives nothing, or too much, has a row of its own with its error; `path` is then the glob.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=1000)
    kind = models.CharField(
        max_length=20, null=True, choices=OffsetFileKind, help_text="Null where neither name nor content tells"
    )
    broker = models.CharField(max_length=255, null=True, help_text="Null where neither path nor content tells")
    client_id = models.CharField(max_length=255, null=True)
    group_name = models.CharField(max_length=255, null=True)
    modified_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    rows = models.IntegerField(null=True)
    from_backup = models.BooleanField(default=False)
    findings = models.JSONField(default=list, help_text="[{code, where, params}]")
    error = models.TextField(null=True, help_text="Why it was not read: {code, params} as JSON")

    class Meta:
        ordering = ["cluster", "path"]
        constraints = [models.UniqueConstraint(fields=["cluster", "path"], name="one_row_per_offset_file")]

    def __str__(self) -> str:
        return self.path


# Repeats: messages that a group consumed again, by cause. Written by the pipeline only.
class RepeatEvent(models.Model):
    """One event of a group and cause. Null is not known; why stands in `unknown` as a code, by the field's name.

    Numbers count offsets: where a tag filter drops messages between them, fewer come again.
    """

    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, related_name="repeats")
    cause = models.CharField(max_length=40, help_text="A code of RepeatCause")
    source = models.CharField(max_length=20, help_text="A code of RepeatSource: where it was found")
    confidence = models.CharField(max_length=10, help_text="A code of Confidence")
    began_after = models.DateTimeField(null=True, help_text="The last reading before it")
    started_at = models.DateTimeField(help_text="The first reading that shows it")
    last_at = models.DateTimeField(help_text="The last reading that shows more of it")
    queue_count = models.IntegerField(help_text="How many queues had messages redelivered")
    redelivered_low = models.BigIntegerField(null=True, help_text="Messages redelivered, at least")
    redelivered_high = models.BigIntegerField(null=True, help_text="Messages redelivered, at most")
    evidence = models.JSONField(default=list, help_text="[{code, …parameters}]")
    parts = models.JSONField(
        default=list,
        help_text="[{at_us, after_us, topic, broker, queue_id, from_offset, until_offset, low, high, confidence, "
        "unknown, evidence}] of each queue, or of each minute of retries; offsets are half-open",
    )
    unknown = models.JSONField(default=dict, help_text="{field: code of RepeatUnknown}")
    judged_at = models.DateTimeField()

    class Meta:
        ordering = ["-started_at", "group"]
        constraints = [
            models.UniqueConstraint(fields=["group", "cause", "started_at"], name="one_repeat_per_cause_and_time")
        ]
        indexes = [
            models.Index(fields=["started_at", "group", "cause", "last_at"], name="repeats_by_time"),
            models.Index(fields=["source", "last_at"], name="repeats_by_source"),
        ]

    def __str__(self) -> str:
        return f"{self.group} at {self.started_at:%Y-%m-%d %H:%M:%S}"
