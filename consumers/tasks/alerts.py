"""Alerts as tasks of a worker of their own: rules are evaluated, channels send what waits, old incidents are forgotten.

Its threads are for nothing else, and receivers that are slow never take all of them: an evaluation finds a thread.
"""

import logging
import threading
import time
from datetime import datetime

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from consumers.alerts.channels.delivery.deliver import deliver
from consumers.alerts.channels.delivery.queue import channels_due
from consumers.alerts.evaluation.run import evaluate
from consumers.alerts.retention import forget
from consumers.errands.hold import stale_after
from consumers.errands.publishing import publish
from consumers.errands.redis_client import RedisDown
from consumers.polling.locks import Locked, lock

from .clock import may_expire

logger = logging.getLogger(__name__)

# A worker that is killed keeps the next evaluations away for no longer. Two at once do no harm: one loses its turn.
LEAST_LOCK_SECONDS = 15.0
# Of a worker's eight threads, so many send at once.
SENDS_AT_ONCE = 6

_sends = threading.BoundedSemaphore(SENDS_AT_ONCE)


def hand_over_channel(channel_id: int) -> bool:
    """Tells the workers that something waits for it. False where Redis is down: then beat finds it in its turn."""
    try:
        publish(alerts_send, expires_seconds=stale_after().total_seconds(), channel_id=channel_id)
    except RedisDown:
        return False
    return True


@shared_task(name="consumers.alerts_due")
def alerts_due() -> None:
    """Channels are handed over whatever became of the evaluation: what earlier ones left waits too."""
    try:
        with lock("alerts", max(LEAST_LOCK_SECONDS, 2 * settings.ALERT_SECONDS)):
            report = evaluate(timezone.now(), timezone.now)
        if report.fired or report.resolved:
            logger.info("Fired: %d, over: %d, messages: %d.", report.fired, report.resolved, report.deliveries)
    except Locked:
        logger.warning("The last evaluation of alert rules still runs: this one is left out.")
    finally:
        for channel_id in channels_due(timezone.now()):
            hand_over_channel(channel_id)


@shared_task(name="consumers.alerts_send")
def alerts_send(channel_id: int) -> None:
    """A try that is due before beat comes by is waited for. Beat hands over again what finds no place."""
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
