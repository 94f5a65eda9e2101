"""The health of groups as a task of the general worker: lists are sorted by what it notes."""

import logging

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from consumers.alerts.health import note
from consumers.polling.locks import Locked, lock

logger = logging.getLogger(__name__)

# A worker that is killed keeps the next round away for no longer.
LEAST_LOCK_SECONDS = 30.0


@shared_task(name="consumers.health_due")
def health_due() -> None:
    try:
        with lock("health", max(LEAST_LOCK_SECONDS, 2 * settings.HEALTH_SECONDS)):
            report = note(timezone.now(), timezone.now, settings.HEALTH_CHECK_SECONDS)
    except Locked:
        logger.warning("The last round of health checks still runs: this one is left out.")
        return
    if report.left:
        logger.info("Health: %d groups checked, %d wait for the next round.", report.checked, report.left)
