"""Offset resets as tasks of the general worker. Beat hands over again what a dead worker left unfinished."""

import logging
import time
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from consumers.jobs.asking import RedisDown, publish, publish_or_leave
from consumers.jobs.hold import left_behind, stale_after
from consumers.models import Reset, ResetStatus
from consumers.polling.locks import Locked, lock
from consumers.resets.applying.run import give_up_hopeless, run
from consumers.resets.planning.run import run_plan
from consumers.resets.request import PLANNED_WITHIN, expire, expire_untaken, refuse_forgotten, refuse_unplanned
from consumers.vocabulary.reasons import to_store

logger = logging.getLogger(__name__)


def enqueue_plan(reset_id: UUID) -> None:
    """Hands a reset to the workers for planning. Raises RedisDown; the reset is then refused with that reason."""
    try:
        publish(reset_plan, expires_seconds=PLANNED_WITHIN.total_seconds(), reset_id=str(reset_id))
    except RedisDown as down:
        refuse_unplanned(reset_id, to_store(str(down)), timezone.now())
        raise


def enqueue(reset_id: UUID) -> bool:
    """Hands a reset to the workers for applying. False where Redis is down: then beat hands it over later."""
    return publish_or_leave(reset_apply, expires_seconds=stale_after().total_seconds(), reset_id=str(reset_id))


@shared_task(name="consumers.reset_plan")
def reset_plan(reset_id: str) -> None:
    run_plan(UUID(reset_id), timezone.now)


@shared_task(name="consumers.reset_apply")
def reset_apply(reset_id: str) -> None:
    """The lock protects the start only: a longer run is protected by the heartbeat in its row."""
    try:
        with lock(f"reset:{reset_id}", stale_after().total_seconds()):
            run(UUID(reset_id), timezone.now, time.sleep)
    except Locked:
        logger.warning("Another worker has the reset %s.", reset_id)


@shared_task(name="consumers.resets_due")
def resets_due() -> None:
    now = timezone.now()
    expire(now)
    expire_untaken(now)
    refuse_forgotten(now)
    give_up_hopeless(now)
    for reset_id in left_behind(Reset, ResetStatus.APPLYING, now):
        reset_apply.apply_async((str(reset_id),), expires=stale_after().total_seconds())
