"""Channels that report incidents, written by people; and each message sent to them, written by the alerts worker."""

import uuid

from django.db import models

from consumers.models.incidents import IncidentEvent
from consumers.models.rules import AlertRule


class ChannelKind(models.TextChoices):
    WEBHOOK = "webhook"
    ALERTMANAGER = "alertmanager"
    EMAIL = "email"
    APPRISE = "apprise"


class Channel(models.Model):
    """Empty selections are everything. Whatever could let somebody in is in `sealed` alone."""

    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=40, help_text="A code of ChannelKind")
    enabled = models.BooleanField(default=True)
    target = models.CharField(max_length=300, help_text="Where it goes, in words that hold no secret")
    sealed = models.TextField(help_text="Address and secrets, encrypted under the site's own key")
    severities = models.JSONField(default=list, blank=True, help_text="[severity]")
    cluster = models.CharField(max_length=100, default="", blank=True)
    group_pattern = models.CharField(max_length=255, default="", blank=True)
    labels = models.JSONField(default=dict, blank=True)
    rules = models.ManyToManyField(AlertRule, blank=True, related_name="channels", help_text="None: all rules")
    title_template = models.TextField(default="", blank=True, help_text="Empty: the site's own")
    body_template = models.TextField(default="", blank=True)
    tells_resolved = models.BooleanField(default=True)
    changed_at = models.DateTimeField()
    changed_by_name = models.CharField(max_length=150, default="")
    working_at = models.DateTimeField(null=True, help_text="When a worker was last seen to send through it")
    repeated_at = models.DateTimeField(
        null=True, help_text="When a worker last began to tell again what fires; only Alertmanager is told again"
    )
    failures = models.IntegerField(default=0, help_text="Tries in a row that were not taken, tests left out")
    failing_since = models.DateTimeField(null=True, help_text="The first of them; null where the newest was taken")
    failing_why = models.TextField(null=True, help_text="What became of the newest of them")
    held_until = models.DateTimeField(null=True, help_text="Until then nothing is sent but tests; null: it is not held")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class DeliveryStatus(models.TextChoices):
    WAITING = "waiting"
    SENDING = "sending"  # noted before anything is sent: what a worker left so may have arrived
    SENT = "sent"
    FAILED = "failed"  # given up; `error` says why
    DROPPED = "dropped"  # not sent; `error` says why


TO_GO = (DeliveryStatus.WAITING, DeliveryStatus.SENDING)
# So many tries in a row that were not taken are the receiver's fault and not the messages'.
SEVERAL = 3


class Delivery(models.Model):
    """One message: changes of one evaluation and one rule, for one channel. Those of one incident go in their order.

    It bears the same `id` however often it is tried, so that whoever receives it twice can tell.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="deliveries")
    number = models.BigIntegerField(help_text="Of the channel, from 1")
    is_test = models.BooleanField(default=False)
    payload = models.JSONField(help_text="What it tells, as the channels render it: see docs/alerts.md")
    status = models.CharField(max_length=8, choices=DeliveryStatus)
    created_at = models.DateTimeField()
    attempts = models.IntegerField(default=0)
    refusals = models.IntegerField(default=0, help_text="Tries at which somebody was there and did not take it")
    next_try_at = models.DateTimeField(null=True, help_text="Null when it is not to be tried any more")
    sent_at = models.DateTimeField(null=True)
    error = models.TextField(null=True, help_text="Of the newest try")
    may_have_arrived = models.BooleanField(
        default=False, help_text="A try was accepted, or nobody saw that it was not: whoever got it waits for the end"
    )
    accepted_by = models.JSONField(default=list, help_text="[recipient] who took it, of an e-mail that goes to several")

    class Meta:
        ordering = ["-created_at", "-number"]
        verbose_name_plural = "deliveries"
        constraints = [models.UniqueConstraint(fields=["channel", "number"], name="one_delivery_at_a_place")]
        indexes = [
            models.Index(fields=["status", "next_try_at"]),
            # All that is looked at of what waits: no row, with its long payload, is read to find the next one.
            models.Index(
                fields=["channel", "status", "is_test", "number", "refusals", "next_try_at"], name="deliveries_in_order"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.created_at:%Y-%m-%d %H:%M:%S} #{self.number}"


class DeliveryEvent(models.Model):
    """Which change a delivery tells: each change goes to a channel in one delivery only."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="tells")
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="+")
    event = models.ForeignKey(IncidentEvent, on_delete=models.CASCADE, related_name="told_by")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["channel", "event"], name="one_delivery_of_an_event")]


class DeliveryAttempt(models.Model):
    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="tries")
    number = models.IntegerField(help_text="Of the delivery, from 1")
    at = models.DateTimeField()
    seconds = models.FloatField(null=True, help_text="Null where its end was not seen")
    ok = models.BooleanField(null=True, help_text="Null where its end was not seen: it may have arrived")
    answer = models.TextField(default="", help_text="What was answered, or why nothing was; without secrets")

    class Meta:
        ordering = ["-at", "-number"]
        constraints = [models.UniqueConstraint(fields=["delivery", "number"], name="one_attempt_at_a_place")]
