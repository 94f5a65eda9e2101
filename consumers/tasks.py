"""Polls as tasks: beat starts the due ones, each cluster is a task of its own on the poll worker."""

import logging
from collections.abc import Callable

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from consumers.clock.tasks import may_expire
from consumers.clock.watch import watch_clock
from consumers.pipeline.site import GRACE_SECONDS, aggregate_what_is_due, site_lake
from consumers.pipeline.upkeep import keep_up
from consumers.polling.locks import Held, Locked, lock
from consumers.polling.poll import alone, newest_clock_change, poller_of
from consumers.polling.registration import WireClosed
from consumers.words.reasons import stored_words

from .alerts import tasks as alerts
from .clients import dumps
from .clock import tasks as clock
from .clusters import connection
from .dead_letters import tasks as dead_letters
from .logs import tasks as logs
from .messages import tasks as messages
from .models import Cluster
from .resets import tasks as resets

# Celery tasks. Celery looks for them here: polls and runs of the pipeline are beside this file, the tasks of a
# capability in its own folder. What tasks call is tested without Celery.

__all__ = ["alerts", "clock", "connection", "dead_letters", "dumps", "logs", "messages", "resets"]


logger = logging.getLogger(__name__)


@shared_task(name="consumers.poll_due")
def poll_due() -> None:
    names = list(Cluster.objects.order_by("pk").values_list("name", flat=True))
    seconds = settings.CONSUMERSCOPE_POLL_SECONDS
    for name, begin in zip(names, begins(len(names), seconds), strict=True):
        poll_cluster.apply_async((name,), countdown=begin, expires=begin + seconds)


def begins(clusters: int, seconds: float) -> list[float]:
    """Spreads the readings of many clusters over one period; each keeps its place in it, so its pace is even."""
    return [number * seconds / clusters for number in range(clusters)]


class ClockSet(Exception):
    """The time of a reading is none any more."""


@shared_task(name="consumers.poll_cluster")
def poll_cluster(name: str) -> None:
    try:
        with alone(name), lock(f"poll:{name}", max(60, 4 * settings.CONSUMERSCOPE_POLL_SECONDS), renewed=True) as held:
            poller_of(name).poll(timezone.now(), _checks(held))
    except Locked:
        logger.warning("The last reading of %s still runs: this one is left out.", name)
    except ClockSet:
        logger.warning("The clock was set while %s was read: the reading is left out.", name)
    except WireClosed as lost:
        logger.warning("The reading of %s was broken off, and the next begins anew: %s", name, stored_words(str(lost)))


def _checks(held: Held) -> Callable[[], None]:
    """Right before anything is recorded: that nobody else reads it, and that the reading's time still is one."""
    before = newest_clock_change()

    def check() -> None:
        held.check()
        watch_clock()
        if newest_clock_change() != before:
            raise ClockSet

    return check


# The pipeline as tasks of the Spark worker: one run at a time, and no run while files are being put together.

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
