"""What the site keeps about itself: audit events, clocks of machines, leases, API tokens and roles for clusters."""

import hashlib
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models

from consumers.models.clusters import Cluster


class AppendOnly(models.Model):
    """Rows that are added, and never changed or deleted."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise TypeError("What was done is not rewritten.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        raise TypeError("What was done is not deleted.")


# Who did what, for good: an audit event outlives its user and whatever it is about.
#
# Written by `consumers.jobs.acts`. Resets have events of their own, see `ResetEvent`.
class AuditAction(models.TextChoices):
    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"
    SEEN = "seen"  # bodies of messages


class AuditEvent(AppendOnly):
    at = models.DateTimeField()
    by_name = models.CharField(max_length=150, help_text="As the user was called then")
    action = models.CharField(max_length=10, choices=AuditAction)
    subject_kind = models.CharField(max_length=100, help_text="The model of what it is about, as alertrule")
    subject_id = models.CharField(max_length=255, null=True, help_text="Null: it is no row")
    subject = models.CharField(max_length=200, help_text="As it was called then")
    sentence = models.TextField()

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["-at", "-id"]), models.Index(fields=["subject_kind", "subject_id"])]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.by_name}"


# The clocks of the machines that the product runs on, as they were watched, and every change of one of them.
class Doubt(models.TextChoices):
    """Why a clock is not trusted to tell what is old."""

    NEW = "new"  # not watched for long enough yet
    GAP = "gap"  # nothing was watched for more than a day
    CHANGED = "changed"
    DIFFERS = "differs"  # from the clock of another machine, which is behind


class MachineClock(models.Model):
    """One boot of one machine. `uptime_seconds` goes on evenly, whatever becomes of the clock."""

    boot = models.CharField(max_length=100, primary_key=True)
    name = models.CharField(max_length=255, help_text="The host's name")
    seen_at = models.DateTimeField(help_text="What its clock showed when it was last watched")
    uptime_seconds = models.FloatField(help_text="At that moment")
    steady_seconds = models.FloatField(help_text="For so long the clock has gone as the uptime did, since the doubt")
    doubt = models.CharField(max_length=8, choices=Doubt, help_text="The newest reason not to trust it")
    doubt_at = models.DateTimeField()
    ahead_until = models.DateTimeField(null=True, help_text="The newest recorded time, where that has yet to come")
    ahead_uptime_seconds = models.FloatField(null=True, help_text="When that was first noticed")

    def __str__(self) -> str:
        return self.name


class ClockChange(models.Model):
    """A clock was set, or times were found that have yet to come."""

    at = models.DateTimeField(help_text="What the clock shows since")
    before = models.DateTimeField(help_text="What it would show else; or the newest time that was recorded")
    machine = models.CharField(max_length=255)
    seconds = models.FloatField(help_text="By how much it was set forward; below zero: back")
    measured = models.BooleanField(help_text="False: nobody saw it change, and recorded times tell the least")
    void = models.JSONField(default=dict, help_text="{model: rows} whose times had yet to come")
    files = models.IntegerField(null=True, help_text="Of history that were set aside; null: not yet")

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.machine} {self.seconds:+.0f} s"


class Lease(models.Model):
    """A named lock in the database, for when Redis is down: whoever holds it until `expires_at` may work."""

    name = models.CharField(max_length=150, primary_key=True)
    holder = models.CharField(max_length=100)
    expires_at = models.DateTimeField()
    seconds = models.FloatField(
        null=True, help_text="For how long it was taken: one with more left was taken by a clock that was ahead"
    )

    def __str__(self) -> str:
        return self.name


# API tokens. Only a token's SHA-256 digest is kept: the token itself is shown once, when it is made.
def token_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class ApiToken(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name


# People of an OpenID Connect provider. Names and mail addresses may change hands: a subject of an issuer never does.
class SignOnAccount(models.Model):
    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_on")
    issuer = models.CharField(max_length=300)
    subject = models.CharField(max_length=255)
    name = models.CharField(max_length=100, help_text="What the provider calls the person, as a user name")
    confirmed_at = models.DateTimeField(help_text="When the provider last said who the person is")
    refused_at = models.DateTimeField(null=True, help_text="No role since, and so disabled; null: has a role")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="one_account_of_a_subject")]

    def __str__(self) -> str:
        return self.name


# What users may do on single clusters, beside what they may do on all of them.
ROLES_OF_CLUSTERS = ("operator", "admin")


class ClusterRole(models.Model):
    """The permissions of the group of users that is called as the role, for one cluster."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="cluster_roles")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="roles")
    role = models.ForeignKey(
        Group, on_delete=models.CASCADE, related_name="cluster_roles", limit_choices_to={"name__in": ROLES_OF_CLUSTERS}
    )

    class Meta:
        ordering = ["cluster__name", "role__name"]
        constraints = [models.UniqueConstraint(fields=["user", "cluster", "role"], name="one_row_of_a_cluster_role")]

    def __str__(self) -> str:
        return f"{self.role.name} of {self.cluster.name}"


# Filters of the list of groups that people named.
class SavedFilter(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_filters")
    name = models.CharField(max_length=100)
    query = models.CharField(max_length=2000, help_text="Of the address, as state=STALL&ordering=-lag_messages")
    is_shared = models.BooleanField(default=False, help_text="Listed for everybody")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="one_saved_filter_of_a_name")]

    def __str__(self) -> str:
        return self.name
