"""Celery tasks of alerts: evaluation, sending, previews of rules, and the health of groups."""

import logging
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from consumers.alerts.channels.deliver import deliver
from consumers.alerts.channels.queue import channels_due
from consumers.alerts.evaluation.run import evaluate
from consumers.alerts.preview.request import TAKEN_UP_WITHIN, fail_forgotten, fail_waiting
from consumers.alerts.preview.work import GRACE_SECONDS, LIMIT_SECONDS, work_on
from consumers.alerts.queries.incidents import retained_since
from consumers.clock.tasks import may_expire
from consumers.findings.record import record_clusters
from consumers.jobs.asking import RedisDown, publish, publish_or_leave
from consumers.jobs.hold import stale_after
from consumers.models import (
    Delivery,
    DeliveryEvent,
    DeliveryStatus,
    EvaluationGap,
    Incident,
    RulePreview,
    Silence,
    StoredFinding,
)
from consumers.polling.locks import Locked, lock
from consumers.vocabulary.reasons import to_store

from .health import note

# Deletes old resolved incidents with their events, resolved findings, messages with their attempts, previews, and times
# without evaluations.
#
# Open incidents and findings are never deleted.

# Each transaction is short, so that other writers do not wait.
AT_ONCE = 500
ENDED = (DeliveryStatus.SENT, DeliveryStatus.FAILED, DeliveryStatus.DROPPED)


def forget(now: datetime) -> int:
    """Returns how many rows were deleted, without dependent rows."""
    return sum(_delete(rows) for rows in _old(retained_since(now)))


def _old(before: datetime) -> Iterator[QuerySet[Any]]:
    yield Incident.objects.filter(resolved_at__lt=before)
    yield StoredFinding.objects.filter(resolved_at__lt=before)
    # Deliveries of an incident are needed until it resolves, and until its resolution is delivered.
    of_kept = Exists(DeliveryEvent.objects.filter(delivery=OuterRef("pk")))
    yield Delivery.objects.filter(~of_kept, status__in=ENDED, created_at__lt=before)
    yield RulePreview.objects.filter(created_at__lt=before)
    yield EvaluationGap.objects.filter(ended_at__lt=before)
    # An open incident may be silenced for that long: the silence that suppresses it stays with it.
    silenced = Incident.objects.filter(silence__isnull=False, resolved_at=None)
    yield Silence.objects.filter(ends_at__lt=before).exclude(pk__in=silenced.values("silence"))


def _delete(rows: QuerySet[Any]) -> int:
    count = 0
    while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        rows.model._default_manager.filter(pk__in=ids).delete()
        count += len(ids)
    return count


# Tasks of the alert worker: rules are evaluated, channels send queued messages, old incidents are deleted.
# Its threads do nothing else, and slow receivers never take all of them: an evaluation always finds a thread.
logger = logging.getLogger(__name__)

# A killed worker delays the next evaluations no longer than this. Two at once do no harm: one of them stops.
ALERTS_LOCK_SECONDS = 15.0

# At most so many of a worker's eight threads send at once.
SENDS_AT_ONCE = 6

_sends = threading.BoundedSemaphore(SENDS_AT_ONCE)


def enqueue_channel(channel_id: int) -> bool:
    """Hands the channel to the workers. False where Redis is down: then beat hands it over later."""
    return publish_or_leave(alerts_send, expires_seconds=stale_after().total_seconds(), channel_id=channel_id)


@shared_task(name="consumers.alerts_due")
def alerts_due() -> None:
    """Channels are handed over whether or not the evaluation succeeds: earlier messages may be queued too."""
    try:
        with lock("alerts", max(ALERTS_LOCK_SECONDS, 2 * settings.ALERT_SECONDS)):
            report = evaluate(timezone.now(), timezone.now)
        if report.fired or report.resolved:
            logger.info("Fired: %d, over: %d, messages: %d.", report.fired, report.resolved, report.deliveries)
    except Locked:
        logger.warning("The last evaluation of alert rules still runs: this one is left out.")
    finally:
        for channel_id in channels_due(timezone.now()):
            enqueue_channel(channel_id)


@shared_task(name="consumers.alerts_send")
def alerts_send(channel_id: int) -> None:
    """Waits for an attempt that is due before beat's next round. Beat hands over again what gets no thread."""
    if not _sends.acquire(blocking=False):
        logger.warning("%d channels are being sent to at once: the channel %d waits.", SENDS_AT_ONCE, channel_id)
        return
    try:
        again_at = deliver(channel_id, timezone.now, time.sleep)
    finally:
        _sends.release()
    if again_at is not None:
        _send_again(channel_id, again_at, timezone.now())


@shared_task(name="consumers.alerts_forget")
def alerts_forget() -> None:
    if may_expire():
        forget(timezone.now())


def _send_again(channel_id: int, at: datetime, now: datetime) -> None:
    seconds = max(1.0, (at - now).total_seconds())
    if seconds <= settings.ALERT_SECONDS:
        expires = seconds + stale_after().total_seconds()
        alerts_send.apply_async(kwargs={"channel_id": channel_id}, countdown=seconds, expires=expires)


# Previews of alert rules as tasks of a general worker: one at a time, so that they never take all its processes.
PREVIEWS = "previews"

AGAIN_SECONDS = 1


def enqueue_preview(preview_id: UUID) -> None:
    """Hands the preview to a worker. Raises RedisDown; the preview has then failed with that reason."""
    try:
        publish(replay_preview, expires_seconds=TAKEN_UP_WITHIN.total_seconds(), preview_id=str(preview_id))
    except RedisDown as down:
        fail_waiting(preview_id, to_store(str(down)), timezone.now())
        raise


# A preview that does not stop in time, for example because the database hangs, is ended with its process.
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


# A killed worker delays the next round no longer than this.
HEALTH_LOCK_SECONDS = 30.0


@shared_task(name="consumers.health_due")
def health_due() -> None:
    """Findings and the health of groups as a task of the general worker: lists are sorted by what it notes."""
    try:
        with lock("health", max(HEALTH_LOCK_SECONDS, 2 * settings.HEALTH_SECONDS)):
            record_clusters(timezone.now())
            report = note(timezone.now(), timezone.now, settings.HEALTH_CHECK_SECONDS)
    except Locked:
        logger.warning("The last round of health checks still runs: this one is left out.")
        return
    if report.left:
        logger.info("Health: %d groups checked, %d wait for the next round.", report.checked, report.left)
