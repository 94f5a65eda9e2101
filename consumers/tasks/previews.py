"""Previews of alert rules as tasks of a general worker: one at a time, so that they never take all its processes."""

import logging
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from consumers.alerts.preview.request import TAKEN_UP_WITHIN, fail_forgotten, fail_waiting
from consumers.alerts.preview.work import GRACE_SECONDS, LIMIT_SECONDS, work_on
from consumers.errands.publishing import publish
from consumers.errands.redis_client import RedisDown
from consumers.polling.locks import Locked, lock

logger = logging.getLogger(__name__)

PREVIEWS = "previews"
AGAIN_SECONDS = 1


def hand_over_preview(preview_id: UUID) -> None:
    """Tells a worker of it. Raises RedisDown, and then the preview has failed with that reason."""
    try:
        publish(replay_preview, expires_seconds=TAKEN_UP_WITHIN.total_seconds(), preview_id=str(preview_id))
    except RedisDown as down:
        fail_waiting(preview_id, str(down), timezone.now())
        raise


# What does not let go in time, as of a database that does not answer, is ended with its process.
@shared_task(name="consumers.replay_preview", time_limit=int(LIMIT_SECONDS + GRACE_SECONDS))
def replay_preview(preview_id: str) -> None:
    try:
        with lock(PREVIEWS, LIMIT_SECONDS + 2 * GRACE_SECONDS):
            work_on(UUID(preview_id), timezone.now)
    except Locked:
        logger.info("Another preview is being answered: the preview %s waits.", preview_id)
        replay_preview.apply_async(
            kwargs={"preview_id": preview_id}, countdown=AGAIN_SECONDS, expires=TAKEN_UP_WITHIN.total_seconds()
        )


@shared_task(name="consumers.previews_due")
def previews_due() -> None:
    fail_forgotten(timezone.now())
