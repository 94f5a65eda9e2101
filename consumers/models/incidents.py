"""Incidents, the health of groups, and findings: written by the alerts and general workers only, but for what people do
with an incident.
"""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from consumers.models.clusters import Cluster
from consumers.models.groups import ConsumerGroup
from consumers.models.rules import AlertRule, Comparison, Severity, Silence


# Incidents: each begins once and ends once, and tells of each of its changes once. Written by the evaluation alone,
# but for what people do with them.
class IncidentStatus(models.TextChoices):
    PENDING = "pending"  # it holds, not yet for long enough; one that passes leaves no trace
    FIRING = "firing"
    RESOLVED = "resolved"


class SubjectKind(models.TextChoices):
    """What an incident is of; which of its names are set follows from it."""

    SITE = "site"
    CLUSTER = "cluster"
    BROKER = "broker"
    GROUP = "group"
    TOPIC = "topic"  # a group's part of a topic


class Ending(models.TextChoices):
    RECOVERED = "recovered"  # it was seen not to hold any more
    GONE = "gone"  # the subject does not exist any more, or is nothing that rules look at
    RULE = "rule"  # the rule was removed, switched off, or does not select it any more


class Incident(models.Model):
    """`id` and `started_at` stay from pending to the end. Null is not known, or has not happened."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    rule = models.ForeignKey(AlertRule, on_delete=models.SET_NULL, null=True, related_name="incidents")
    rule_name = models.CharField(max_length=100)
    severity = models.CharField(max_length=8, choices=Severity)
    measure = models.CharField(max_length=40, help_text="A code of Measure")
    comparison = models.CharField(max_length=5, choices=Comparison)
    threshold = models.FloatField(null=True)
    states = models.JSONField(null=True)

    subject_kind = models.CharField(max_length=7, choices=SubjectKind)
    subject_key = models.CharField(max_length=700, help_text="One for each subject, see consumers.alerts.measured")
    cluster_name = models.CharField(max_length=100, default="")
    broker_name = models.CharField(max_length=255, default="")
    group_name = models.CharField(max_length=255, default="")
    topic_name = models.CharField(max_length=255, default="")
    group = models.ForeignKey(ConsumerGroup, on_delete=models.SET_NULL, null=True, related_name="incidents")

    status = models.CharField(max_length=8, choices=IncidentStatus)
    started_at = models.DateTimeField(help_text="Since when the condition passes, or its first evaluation")
    fired_at = models.DateTimeField(null=True)
    clearing_since = models.DateTimeField(null=True, help_text="Since when it does not hold, while it is not over yet")
    resolved_at = models.DateTimeField(null=True)
    ending = models.CharField(max_length=9, choices=Ending, null=True)

    value = models.FloatField(null=True, help_text="The newest known number, in the measure's unit; null for states")
    worst_value = models.FloatField(null=True)
    state = models.CharField(max_length=10, null=True, help_text="The newest known state, where states are compared")
    evidence = models.TextField(default="", help_text="A code with its values, as of `value_at`")
    value_at = models.DateTimeField(null=True)
    unknown_since = models.DateTimeField(null=True, help_text="Null while the value is known")
    unknown_reason = models.TextField(null=True)
    groups_count = models.IntegerField(null=True, help_text="Groups that it leaves unknown; null for those of a group")
    group_names = models.JSONField(default=list, help_text="The first of them, as [cluster, group]")

    owner = models.CharField(max_length=200, default="")
    runbook_url = models.CharField(max_length=500, default="")
    note = models.TextField(default="")
    labels = models.JSONField(default=dict)

    silence = models.ForeignKey(
        Silence, on_delete=models.SET_NULL, null=True, related_name="+", help_text="Which keeps it from being told"
    )
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    acknowledged_by_name = models.CharField(max_length=150, null=True)
    acknowledgement = models.TextField(default="", help_text="What was said with it")

    class Meta:
        ordering = ["-started_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "subject_key"], condition=Q(resolved_at=None), name="one_open_incident_of_a_subject"
            )
        ]
        indexes = [
            models.Index(fields=["status", "-started_at"]),
            models.Index(fields=["resolved_at"]),
            models.Index(fields=["cluster_name", "group_name", "-started_at"], name="incidents_of_group"),
        ]

    def __str__(self) -> str:
        return f"{self.rule_name}: {self.subject_key}"


class IncidentEventKind(models.TextChoices):
    FIRING = "firing"  # told to channels
    RESOLVED = "resolved"  # told to channels that were told of the firing
    UNKNOWN = "unknown"  # its value became unknown: it stays open
    KNOWN = "known"
    ACKNOWLEDGED = "acknowledged"
    UNACKNOWLEDGED = "unacknowledged"
    SILENCED = "silenced"
    UNSILENCED = "unsilenced"
    CHANGED = "changed"  # severity or threshold, by a change of the rule


class IncidentEvent(models.Model):
    """One change of an incident, in order. Never changed or deleted but with its incident."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="events")
    sequence = models.IntegerField(help_text="From 1, within the incident")
    at = models.DateTimeField()
    kind = models.CharField(max_length=14, choices=IncidentEventKind)
    sentence = models.TextField()
    by_name = models.CharField(max_length=150, null=True, help_text="Null: the evaluation")

    class Meta:
        ordering = ["at", "pk"]
        constraints = [models.UniqueConstraint(fields=["incident", "sequence"], name="one_event_at_a_place")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} #{self.sequence}"


class AlertEngine(models.Model):
    """The newest evaluation, in one row: whoever evaluates holds it, so that two do so one after the other."""

    evaluated_at = models.DateTimeField(null=True, help_text="The moment that was evaluated; it never goes back")
    seconds = models.FloatField(null=True)
    rules = models.IntegerField(null=True)
    groups = models.IntegerField(null=True)
    error = models.TextField(null=True, help_text="Why the newest try failed; null where it did not")
    error_at = models.DateTimeField(null=True)


class EvaluationGap(models.Model):
    """A time that is over, when nobody evaluated alert rules: what fired and resolved within it is not known.

    `began_at` null: no evaluation before `ended_at` is known.
    """

    began_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["ended_at"])]

    def __str__(self) -> str:
        return f"until {self.ended_at}"


# What was found of each group beside its state, noted for lists. Written by the health task of the general worker.
class HealthLevel(models.TextChoices):
    """Worst first. UNKNOWN: nothing wrong was found, and not everything that health looks at is known."""

    CRITICAL = "critical"
    WARNING = "warning"
    UNKNOWN = "unknown"
    OK = "ok"


class GroupHealth(models.Model):
    """`level` is the worst of `reasons`, and `ok` without one. The group's state has no part in it: lists add the state
    that they show.

    Dead letters, blocked queues and rebalances are looked at for all groups at once (`noted_at`); ownership and retry
    health checks of some groups at a time (`checked_at`, null before the first).
    """

    group = models.OneToOneField(ConsumerGroup, on_delete=models.CASCADE, primary_key=True, related_name="health")
    level = models.CharField(max_length=10, choices=HealthLevel)
    noticed = models.JSONField(default=list, help_text="[{code, level, parameters}] as of `noted_at`")
    checked = models.JSONField(default=list, help_text="The same as of `checked_at`")
    noted_at = models.DateTimeField()
    checked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.group_id}: {self.level}"


# Findings over time: written by the health task of the general worker.
class StoredFinding(models.Model):
    """What a check found, from `since` until `resolved_at`; words are made of `code` and `params`.

    A finding that could not be checked stays open, and its `last_seen_at` stays as it is.
    """

    identity = models.CharField(max_length=64, help_text="One for each code, subject and key")
    code = models.CharField(max_length=40, help_text="A FindingCode")
    severity = models.CharField(max_length=8, help_text="A FindingSeverity")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="findings")
    group = models.ForeignKey(ConsumerGroup, on_delete=models.CASCADE, null=True, related_name="findings")
    group_name = models.CharField(max_length=255, default="")
    broker = models.CharField(max_length=255, default="")
    params = models.JSONField(default=dict)
    since = models.DateTimeField(help_text="As the check says; else when it was first found")
    last_seen_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["identity"], condition=Q(resolved_at=None), name="one_open_finding")
        ]
        indexes = [models.Index(fields=["resolved_at"], name="resolved_findings")]

    def __str__(self) -> str:
        return f"{self.code}: {self.group_name or self.broker}"
