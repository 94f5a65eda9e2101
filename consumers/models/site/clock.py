"""The clocks of the machines that the product runs on, as they were watched, and every change of one of them."""

from django.db import models


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
