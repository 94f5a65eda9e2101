"""How old a finding may be before it says nothing about now, by the site's settings."""

from datetime import timedelta

from django.conf import settings

from .verdict import HealthLimits


def health_limits() -> HealthLimits:
    return HealthLimits(
        noted=timedelta(seconds=max(60.0, 4 * settings.HEALTH_SECONDS)),
        checked=timedelta(seconds=settings.JUDGE["evidence_seconds"]),
    )
