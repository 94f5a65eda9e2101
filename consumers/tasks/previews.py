"""Previews of alert rules as tasks of the Spark worker, which has one task at a time: each comes in its turn."""

import logging
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from consumers.alerts.preview.overdue import TAKEN_UP_WITHIN, fail_forgotten, fail_waiting
from consumers.alerts.preview.work import LIMIT_SECONDS, work_on
from consumers.errands.publishing import publish
from consumers.errands.redis_client import RedisDown
from consumers.pipeline.watchdog import GRACE_SECONDS
from consumers.polling.locks import Locked, lock

from .aggregate import PIPELINE

logger = logging.getLogger(__name__)

AGAIN_SECONDS = 5


def hand_over_preview(preview_id: UUID) -> None:
    """Tells the Spark worker of it. Raises RedisDown, and then the preview has failed with that reason."""
    try:
        publish(
            aggregate_preview,
            expires_seconds=TAKEN_UP_WITHIN.total_seconds(),
            preview_id=str(preview_id),
        )
    except RedisDown as down:
        fail_waiting(preview_id, str(down), timezone.now())
        raise


@shared_task(name="consumers.aggregate_preview")
def aggregate_preview(preview_id: str) -> None:
    """Holds the pipeline's lock, as files must not be put together meanwhile."""
    try:
        with lock(PIPELINE, LIMIT_SECONDS + 2 * GRACE_SECONDS):
            work_on(UUID(preview_id), timezone.now)
    except Locked:
        logger.info("The pipeline runs just now: the preview %s waits.", preview_id)
        aggregate_preview.apply_async(
            kwargs={"preview_id": preview_id}, countdown=AGAIN_SECONDS, expires=TAKEN_UP_WITHIN.total_seconds()
        )


@shared_task(name="consumers.previews_due")
def previews_due() -> None:
    fail_forgotten(timezone.now())
