"""Re-sends of dead letters as tasks of the general worker. Beat takes up again what a worker has left behind."""

import logging
import time
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from consumers.dead_letters.resend.run import run
from consumers.dead_letters.resend.start import expire
from consumers.errands.hold import left_behind, stale_after
from consumers.errands.publishing import publish
from consumers.errands.redis_client import RedisDown
from consumers.models import Resend, ResendStatus
from consumers.polling.locks import Locked, lock

logger = logging.getLogger(__name__)


def hand_over(resend_id: UUID) -> bool:
    """Tells the workers of one that was started. False where Redis is down: then beat finds it in its turn."""
    try:
        publish(resend, expires_seconds=stale_after().total_seconds(), resend_id=str(resend_id))
    except RedisDown:
        return False
    return True


@shared_task(name="consumers.resend")
def resend(resend_id: str) -> None:
    """The lock is for the beginning alone: what runs for longer is kept by its mark of life in the row."""
    try:
        with lock(f"resend:{resend_id}", stale_after().total_seconds()):
            run(UUID(resend_id), timezone.now, time.sleep)
    except Locked:
        logger.warning("Another worker has the re-send %s.", resend_id)


@shared_task(name="consumers.resend_due")
def resend_due() -> None:
    now = timezone.now()
    expire(now)
    for resend_id in left_behind(Resend, ResendStatus.RUNNING, now):
        resend.apply_async((str(resend_id),), expires=stale_after().total_seconds())
