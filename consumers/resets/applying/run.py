"""A reset with its cluster's connections: what the task calls."""

import logging
from uuid import UUID

from django.conf import settings

from consumers.errands.hold import Hold, NotHeld
from consumers.errands.ports import Ports
from consumers.errands.wires import connected
from consumers.models import Cluster, Reset, ResetStatus
from consumers.polling.registration.access import NoAccess
from consumers.polling.wire import WireClosed

from .abandon import abandon
from .work import CannotGoOn, Clock, Pause, work

logger = logging.getLogger(__name__)


def run(reset_id: UUID, clock: Clock, pause: Pause) -> None:
    """Ends it at once where its cluster cannot be asked anything."""
    name = Reset.objects.get(pk=reset_id).cluster_name
    try:
        cluster, ports = _ports(name)
    except CannotGoOn as reason:
        return _give_up(reset_id, str(reason), clock)
    work(reset_id, ports, clock, pause, lambda: _again(cluster))


def _ports(name: str) -> tuple[Cluster, Ports]:
    """Raises CannotGoOn."""
    try:
        cluster = Cluster.objects.get(name=name)
        return cluster, Ports.of(cluster, connected(cluster), settings.POLL_CALL_DEADLINE_SECONDS)
    except Cluster.DoesNotExist:
        raise CannotGoOn(f"The cluster {name} is not registered any more.") from None
    except (NoAccess, WireClosed) as reason:
        raise CannotGoOn(str(reason)) from None


def _again(before: Cluster) -> Ports:
    """Of the same cluster, which may want another key by now. Raises CannotGoOn."""
    cluster, ports = _ports(before.name)
    if not set(cluster.name_servers) & set(before.name_servers):
        raise CannotGoOn(
            f"The cluster {before.name} was registered with other name servers meanwhile: whether it is the same "
            "cluster is not known."
        )
    return ports


def _give_up(reset_id: UUID, reason: str, clock: Clock) -> None:
    logger.error("The reset %s ends: %s", reset_id, reason)
    try:
        abandon(Hold.take(Reset, reset_id, ResetStatus.APPLYING, clock()), reason, clock())
    except NotHeld as other:
        logger.info("%s", other)
