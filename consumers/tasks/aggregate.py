"""The pipeline as tasks of the Spark worker: one run at a time, and no run while files are being put together."""

import logging

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from consumers.clock.tasks import may_expire
from consumers.pipeline.site import aggregate_what_is_due, site_lake
from consumers.pipeline.upkeep import keep_up
from consumers.pipeline.watchdog import GRACE_SECONDS
from consumers.polling.locks import Locked, lock

logger = logging.getLogger(__name__)

PIPELINE = "pipeline"


def lock_seconds() -> float:
    """As long as a run can last before its process ends."""
    return settings.SPARK_RUN_LIMIT_SECONDS + 2 * GRACE_SECONDS


@shared_task(name="consumers.aggregate_due")
def aggregate_due() -> None:
    try:
        with lock(PIPELINE, lock_seconds()):
            aggregate_what_is_due(timezone.now())
    except Locked:
        logger.warning("The last run of the pipeline is not over: this one is left out.")


@shared_task(name="consumers.aggregate_upkeep")
def aggregate_upkeep() -> None:
    try:
        with lock(PIPELINE, lock_seconds()):
            keep_up(site_lake(), timezone.now(), may_expire=may_expire())
    except Locked:
        logger.warning("The pipeline runs just now: upkeep waits for its next turn.")
