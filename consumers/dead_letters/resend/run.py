"""A re-send with its cluster's connections: what the task calls."""

import logging
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


def run(resend_id: UUID, clock: Clock, pause: Pause) -> None:
    """Ends it at once where its cluster cannot be asked anything."""
    cluster = Resend.objects.select_related("group__cluster").get(pk=resend_id).group.cluster
    if locked := why_read_only(cluster.name):
        _give_up(resend_id, locked, clock)
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


def _give_up(resend_id: UUID, reason: str, clock: Clock) -> None:
    try:
        abandon(Hold.take(Resend, resend_id, ResendStatus.RUNNING, clock()), reason, clock())
    except NotHeld as other:
        logger.info("%s", other)
