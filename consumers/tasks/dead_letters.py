"""Looks into dead letters as tasks of the general worker: one at a time for each cluster."""

import logging

from celery import Task, shared_task
from django.utils import timezone

from consumers.dead_letters.index.look import look_into
from consumers.dead_letters.index.rules import LookRules
from consumers.models import Cluster, ConsumerGroup
from consumers.polling.locks import Locked, lock

logger = logging.getLogger(__name__)

# Far longer than a look's calls take; a worker that is killed blocks the next looks for no longer.
LOCK_SECONDS = 120.0
ASK_AGAIN_SECONDS, ASK_TIMES = 1, 30


@shared_task(name="consumers.look_into_dead_letters")
def look_into_dead_letters() -> None:
    for cluster in Cluster.objects.order_by("pk"):
        try:
            with lock(f"dead letters:{cluster.name}", LOCK_SECONDS):
                look_into(cluster, None, LookRules.of_site(), timezone.now())
        except Locked:
            logger.warning("Somebody looks into the dead letters of %s just now: this turn is left out.", cluster.name)


@shared_task(name="consumers.look_into_dead_letters_of", bind=True, max_retries=ASK_TIMES)
def look_into_dead_letters_of(self: Task, cluster: str, group: str) -> None:
    """Of one group, at once: after the look that goes on just now."""
    found = ConsumerGroup.objects.select_related("cluster").get(cluster__name=cluster, name=group)
    try:
        with lock(f"dead letters:{cluster}", LOCK_SECONDS):
            look_into(found.cluster, found, LookRules.of_site(), timezone.now())
    except Locked as locked:
        raise self.retry(exc=locked, countdown=ASK_AGAIN_SECONDS) from None
