"""Logs as tasks of the general worker: one run over the logs of a cluster at a time."""

import logging

from celery import shared_task
from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from consumers.clock.tasks import may_expire
from consumers.logs.follow import FollowRules, follow_cluster, forget_old
from consumers.models import Cluster
from consumers.polling.locks import Locked, lock

logger = logging.getLogger(__name__)

# Longer than a run of a few dozen MiB takes; a killed worker delays the next run no longer than this.
LOCK_SECONDS = 120.0


@shared_task(name="consumers.logs_due")
def logs_due() -> None:
    """Asks for runs of the clusters that name logs, or named some until now."""
    named = ~Q(client_logs="", broker_logs="") | Q(log_files__gone_at=None, log_files__isnull=False)
    for name in Cluster.objects.filter(named).distinct().order_by("pk").values_list("name", flat=True):
        follow_logs.apply_async((name,), expires=settings.LOG_SECONDS)
    if may_expire():
        forget_old(timezone.now(), FollowRules.of_site())


@shared_task(name="consumers.follow_logs")
def follow_logs(name: str) -> None:
    try:
        with lock(f"logs:{name}", LOCK_SECONDS):
            follow_cluster(Cluster.objects.get(name=name), timezone.now(), FollowRules.of_site())
    except Locked:
        logger.warning("The last run over the logs of %s is not over: this one is left out.", name)
