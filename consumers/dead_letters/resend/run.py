"""A re-send with its cluster's connections: what the task calls."""

import logging
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

from consumers.errands.hold import Hold, NotHeld
from consumers.errands.ports import Ports
from consumers.errands.read_only import why_read_only
from consumers.errands.wires import connected
from consumers.models import Resend, ResendStatus
from consumers.polling.registration.access import NoAccess
from consumers.polling.wire import WireClosed

from .batch import Clock
from .finish import abandon
from .work import Pause, work

logger = logging.getLogger(__name__)

TAKEN_UP_WITHIN = timedelta(minutes=5)


def run(resend_id: UUID, clock: Clock, pause: Pause) -> None:
    """Ends it at once where its cluster cannot be asked anything."""
    resend = Resend.objects.select_related("group__cluster").get(pk=resend_id)
    cluster = resend.group.cluster
    if against := why_read_only(cluster.name) or _why_too_late(resend, clock()):
        _give_up(resend_id, against, clock)
        return
    try:
        wire = connected(cluster)
    except (NoAccess, WireClosed) as reason:
        logger.error("The re-send %s ends: %s", resend_id, reason)
        _give_up(resend_id, str(reason), clock)
        return
    try:
        work(resend_id, Ports.of(cluster, wire, settings.POLL_CALL_DEADLINE_SECONDS), clock, pause)
    except WireClosed as lost:
        # Its mark grows stale; whoever takes it up then looks for what was being sent before it sends more.
        logger.warning("The re-send %s goes on soon, with other connections: %s", resend_id, lost)


def _why_too_late(resend: Resend, now: datetime) -> str | None:
    """Null for one that a worker had, however long ago: what it was sending must be settled."""
    if resend.working_at or resend.started_at is None or now - resend.started_at <= TAKEN_UP_WITHIN:
        return None
    return (
        "No worker took it up within 5 minutes: see that a Celery worker for the queue general runs, and plan anew, as "
        "dead letters may have come or gone since."
    )


def _give_up(resend_id: UUID, reason: str, clock: Clock) -> None:
    try:
        abandon(Hold.take(Resend, resend_id, ResendStatus.RUNNING, clock()), reason, clock())
    except NotHeld as other:
        logger.info("%s", other)
