"""Thresholds of one group that differ from those of the site. Written by people, in the admin pages."""

from django.core.validators import MinValueValidator
from django.db import models

from consumers.models.watched.group import ConsumerGroup


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
