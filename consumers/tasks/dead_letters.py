"""Looks into dead letters as tasks of the general worker: one at a time for each cluster."""

import logging
from datetime import datetime

from celery import Task, shared_task
from django.utils import timezone

from consumers.dead_letters.index.asked import put_asked, put_done
from consumers.dead_letters.index.look import look_into
from consumers.dead_letters.index.rules import LookRules
from consumers.errands.publishing import publish
from consumers.errands.questions import PATIENCE
from consumers.models import Cluster, ConsumerGroup
from consumers.polling.locks import Locked, lock
from consumers.polling.wire import WireClosed

logger = logging.getLogger(__name__)

# Far longer than a look's calls take; a worker that is killed blocks the next looks for no longer.
LOCK_SECONDS = 120.0
AGAIN_SECONDS, MOST_AGAIN = 1, 30
FAILED = "The worker failed at it: its log says why."


@shared_task(name="consumers.look_into_dead_letters")
def look_into_dead_letters() -> None:
    for cluster in Cluster.objects.order_by("pk"):
        try:
            with lock(f"dead letters:{cluster.name}", LOCK_SECONDS):
                look_into(cluster, None, LookRules.of_site(), timezone.now())
        except Locked:
            logger.warning("Somebody looks into the dead letters of %s just now: this turn is left out.", cluster.name)
        except WireClosed as lost:
            logger.warning("The look into the dead letters of %s goes on in the next turn: %s", cluster.name, lost)


def ask_for_dead_letters(group: ConsumerGroup, now: datetime) -> None:
    """Those of one group, at once. Raises RedisDown."""
    put_asked(group, now)
    publish(look_into_dead_letters_of, expires_seconds=3 * PATIENCE.total_seconds(), pk=group.pk)


@shared_task(name="consumers.look_into_dead_letters_of", bind=True, max_retries=MOST_AGAIN)
def look_into_dead_letters_of(self: Task, pk: int) -> None:
    """After the look that goes on just now."""
    group = ConsumerGroup.objects.select_related("cluster").get(pk=pk)
    try:
        with lock(f"dead letters:{group.cluster.name}", LOCK_SECONDS):
            look_into(group.cluster, group, LookRules.of_site(), timezone.now())
    except Locked as locked:
        raise self.retry(exc=locked, countdown=AGAIN_SECONDS) from None
    except Exception:
        put_done(group, FAILED, timezone.now())
        raise
    put_done(group, None, timezone.now())
