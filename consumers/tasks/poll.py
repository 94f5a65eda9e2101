"""Polls as tasks: beat starts the due ones, each cluster is a task of its own on the poll worker."""

import logging

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from consumers.models import Cluster
from consumers.polling.locks import Locked, lock
from consumers.polling.pollers import alone, poller_of
from consumers.polling.wire import WireClosed

logger = logging.getLogger(__name__)


@shared_task(name="consumers.poll_due")
def poll_due() -> None:
    names = list(Cluster.objects.order_by("pk").values_list("name", flat=True))
    seconds = settings.CONSUMERSCOPE_POLL_SECONDS
    for name, begin in zip(names, begins(len(names), seconds), strict=True):
        poll_cluster.apply_async((name,), countdown=begin, expires=begin + seconds, queue="poll")


def begins(clusters: int, seconds: float) -> list[float]:
    """Spreads the readings of many clusters over one period; each keeps its place in it, so its pace is even."""
    return [number * seconds / clusters for number in range(clusters)]


@shared_task(name="consumers.poll_cluster")
def poll_cluster(name: str) -> None:
    try:
        with alone(name), lock(f"poll:{name}", max(60, 4 * settings.CONSUMERSCOPE_POLL_SECONDS), renewed=True) as held:
            poller_of(name).poll(timezone.now(), held.check)
    except Locked:
        logger.warning("The last reading of %s still runs: this one is left out.", name)
    except WireClosed as lost:
        logger.warning("The reading of %s was broken off, and the next begins anew: %s", name, lost)
