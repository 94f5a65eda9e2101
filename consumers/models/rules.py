"""Alert rules, silences, notes and previews of rules. Written by people, through pages and REST."""

import uuid

from django.conf import settings
from django.db import models


class Severity(models.TextChoices):
    """Worst first."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


class Measure(models.TextChoices):
    """What a rule looks at, with its unit; docs/alerts.md says where each comes from."""

    STATE = "state"
    LAG = "lag_messages"
    TIME_LAG = "time_lag_seconds"
    EXPIRY = "expires_in_seconds"  # until the first message that is not consumed may be deleted
    EXPIRES_UNCONSUMED = "expires_unconsumed_seconds"  # at the pace at which the time lag rises
    DRAIN = "drain_seconds"
    EXPIRED = "expired_messages"
    RETRY_SHARE = "retry_share"
    DLQ_INFLOW = "dlq_inflow_messages"  # into the dead-letter topic, over the last five minutes
    REBALANCES = "rebalance_episodes_hour"
    REPEATS = "repeat_events_hour"  # proven or likely
    REDELIVERED = "redelivered_messages_hour"  # at least
    UNSETTLED = "unsettled_seconds"  # how long members have been changing without coming to rest
    UNOWNED = "unowned_queues"
    DOUBLY_OWNED = "doubly_owned_queues"
    BLOCKED = "blocked_seconds"  # how long the oldest message that is held has not been finished
    FINDINGS = "findings"  # open findings of the codes and severities that the rule seeks
    MEMBERS = "members"
    UNKNOWN = "unknown_seconds"  # how long the lag or the state of a group has not been known, for a cause of its own
    LOST = "lost_queues"  # of a broker: queues whose committed offset is gone from it
    BROKER_UNREAD = "broker_unread_seconds"  # of a broker: since its last good reading
    NAME_SERVER = "name_server_unread_seconds"  # of a cluster: since name servers last told its brokers
    READING_AGE = "reading_age_seconds"  # of a cluster, or of the site where no cluster is read
    JUDGEMENT_AGE = "judgement_age_seconds"  # of the site


class Comparison(models.TextChoices):
    ABOVE = "above"
    BELOW = "below"
    IN = "in"  # of states


class AlertRule(models.Model):
    """Empty selections are everything. A value that is not known neither fires nor resolves."""

    name = models.CharField(max_length=100, unique=True)
    key = models.CharField(
        max_length=40, unique=True, null=True, help_text="Of a rule that the site came with; null: made here"
    )
    enabled = models.BooleanField(default=True)
    measure = models.CharField(max_length=40, help_text="A code of Measure")
    comparison = models.CharField(max_length=5, choices=Comparison)
    threshold = models.FloatField(null=True, help_text="In the measure's unit; null where states are compared")
    states = models.JSONField(null=True, help_text="[state]; null where a number is compared")
    findings = models.JSONField(
        default=list, blank=True, help_text="[code or severity of findings; with - before a code: not this one]"
    )
    clear_threshold = models.FloatField(
        null=True, help_text="Over only when the value is not beyond this one either; null: the threshold itself"
    )
    for_seconds = models.FloatField(default=0, help_text="How long it must hold before it fires")
    clear_seconds = models.FloatField(default=300, help_text="How long it must not hold before it is over")
    severity = models.CharField(max_length=8, choices=Severity)
    cluster = models.CharField(max_length=100, default="", blank=True)
    group_pattern = models.CharField(
        max_length=255, default="", blank=True, help_text="With * and ?, compared with case"
    )
    topic = models.CharField(
        max_length=255, default="", blank=True, help_text="Then each group's part of this topic is compared"
    )
    labels = models.JSONField(default=dict, blank=True, help_text="{label: value} that the group's notes give it")
    overrides = models.JSONField(
        default=list,
        blank=True,
        help_text="[{cluster, group_pattern, and any of enabled, threshold, clear_threshold, for_seconds, severity}]: "
        "the first that names a group counts for it",
    )
    runbook_url = models.CharField(max_length=500, default="", blank=True)
    note = models.TextField(default="", blank=True)
    changed_at = models.DateTimeField()
    changed_by_name = models.CharField(max_length=150, default="")

    class Meta:
        ordering = ["name"]
        permissions = [("manage_alerts", "Can manage alert rules, channels, silences and notes, and acknowledge")]

    def __str__(self) -> str:
        return self.name


class GroupNote(models.Model):
    """What people say of groups. Of several that name a group, the first that has a field tells it; labels add up."""

    position = models.IntegerField(default=0, help_text="The lowest counts first")
    cluster = models.CharField(max_length=100, default="", blank=True)
    group_pattern = models.CharField(max_length=255)
    owner = models.CharField(max_length=200, default="", blank=True)
    runbook_url = models.CharField(max_length=500, default="", blank=True)
    note = models.TextField(default="", blank=True)
    labels = models.JSONField(default=dict, blank=True, help_text="{label: value}")
    changed_at = models.DateTimeField()
    changed_by_name = models.CharField(max_length=150, default="")

    class Meta:
        ordering = ["position", "pk"]

    def __str__(self) -> str:
        return self.group_pattern


class Silence(models.Model):
    """From `starts_at` on, until `ends_at`, what it selects is told to nobody. Empty selections are everything.

    `weekly`: only while such a window is open (consumers/alerts/weekly.py).
    """

    cluster = models.CharField(max_length=100, default="", blank=True)
    group_pattern = models.CharField(max_length=255, default="", blank=True)
    topic = models.CharField(max_length=255, default="", blank=True)
    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, null=True, blank=True, related_name="silences")
    labels = models.JSONField(default=dict, blank=True)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(help_text="The moment it was ended at, where somebody did that early")
    weekly = models.JSONField(
        null=True, help_text="{days: [mon …], start, end: HH:MM, time_zone}; null: without a break"
    )
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    ended_by_name = models.CharField(max_length=150, null=True, help_text="Null where nobody ended it early")

    class Meta:
        ordering = ["-ends_at", "-pk"]

    def __str__(self) -> str:
        return self.reason


# What a rule would have done over stored history: asked for by people, answered by a worker.
class PreviewStatus(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # `error` says why
    CANCELLED = "cancelled"


UNFINISHED_PREVIEWS = (PreviewStatus.WAITING, PreviewStatus.RUNNING)


class RulePreview(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    rule = models.JSONField(help_text="The rule as it was asked about, stored or not")
    since = models.DateTimeField()
    until = models.DateTimeField()
    status = models.CharField(max_length=9, choices=PreviewStatus)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, help_text="When a worker took it up; null: none has yet")
    finished_at = models.DateTimeField(null=True)
    cancelled_by_name = models.CharField(max_length=150, null=True, help_text="Null: nobody cancelled it")
    seconds = models.FloatField(null=True)
    result = models.JSONField(null=True, help_text="See consumers.alerts.preview")
    error = models.TextField(null=True)

    class Meta:
        ordering = ["-created_at"]
