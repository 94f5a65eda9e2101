"""How much room the history takes, as upkeep measured it. Written by upkeep only: one row, replaced each time."""

from django.db import models


class HistorySize(models.Model):
    """`tables`: by cluster and table {"bytes", "days": {"2026-03-01": bytes}}; the days are whole ones, in UTC."""

    measured_at = models.DateTimeField()
    seconds = models.FloatField(help_text="How long the measuring took")
    free_bytes = models.BigIntegerField(null=True, help_text="On the lake's disk; null: it does not tell")
    tables = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.measured_at:%Y-%m-%d %H:%M}"
