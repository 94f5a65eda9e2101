"""A reset with its cluster's connections: what the task calls."""

import logging
from uuid import UUID

from django.conf import settings

from consumers.errands.hold import Hold, NotHeld
from consumers.errands.ports import Ports
from consumers.errands.wires import connected
from consumers.models import Cluster, Reset, ResetStatus
from consumers.polling.registration.access import NoAccess

from .abandon import abandon
from .work import Clock, Pause, work

logger = logging.getLogger(__name__)


def run(reset_id: UUID, clock: Clock, pause: Pause) -> None:
    """Ends it at once where its cluster cannot be asked anything."""
    name = Reset.objects.get(pk=reset_id).cluster_name
    try:
        cluster = Cluster.objects.get(name=name)
        wire = connected(cluster)
    except Cluster.DoesNotExist:
        return _give_up(reset_id, f"The cluster {name} is not registered any more.", clock)
    except NoAccess as reason:
        return _give_up(reset_id, str(reason), clock)
    work(reset_id, Ports.of(cluster, wire, settings.POLL_CALL_DEADLINE_SECONDS), clock, pause)


def _give_up(reset_id: UUID, reason: str, clock: Clock) -> None:
    logger.error("The reset %s ends: %s", reset_id, reason)
    try:
        abandon(Hold.take(Reset, reset_id, ResetStatus.APPLYING, clock()), reason, clock())
    except NotHeld as other:
        logger.info("%s", other)
